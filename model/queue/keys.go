package queue

import (
	"strconv"

	"seckill/model"
)

// Every name that the program uses in Redis. An item's keys share the hash tag {id}, so that a cluster keeps them
// together; {id}:queue is read by outside checkers too.

// itemKeys is an item's keys in the order in which every script of an item has them.
func itemKeys(id model.ID) []string {
	tag := "{" + id.String() + "}:"
	return []string{tag + "meta", tag + "queue", tag + "marks", tag + "verdicts"}
}

// beatKey has the workers that live, by their latest beat.
const beatKey = "seckill:workers"

// channelName is where everything is published. Channels are not parted by database as keys are, so its number is
// in the name.
func channelName(db int) string { return "seckill:" + strconv.Itoa(db) + ":events" }
