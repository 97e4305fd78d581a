package queue

// chunk is how many elements each piece of a deque has.
const chunk = 1024

// deque is a list that grows at its end and is trimmed at its head. It never moves an element, so that neither a push
// nor a trim has to wait for a long list to be copied.
type deque[T any] struct {
	chunks [][]T
	head   int // elements trimmed off the first chunk
	size   int
}

func (d *deque[T]) len() int { return d.size }

func (d *deque[T]) push(v T) {
	if d.head+d.size == len(d.chunks)*chunk {
		d.chunks = append(d.chunks, make([]T, chunk))
	}
	d.size++
	*d.at(d.size - 1) = v
}

// at is the element n after the head.
func (d *deque[T]) at(n int) *T {
	n += d.head
	return &d.chunks[n/chunk][n%chunk]
}

// trim takes n elements off the head.
func (d *deque[T]) trim(n int) {
	var zero T
	for k := range n {
		*d.at(k) = zero
	}
	d.head += n
	d.size -= n
	for d.head >= chunk {
		d.chunks = d.chunks[1:]
		d.head -= chunk
	}
	if d.size == 0 {
		d.head = 0
	}
}
