package worker

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"seckill/model"
)

// metrics counts what the sellers of one process do.
type metrics struct {
	decisions *prometheus.CounterVec // by verdict
	batches   prometheus.Counter
	seconds   prometheus.Histogram
	panics    prometheus.Counter
	sellers   prometheus.Gauge
	workers   prometheus.Gauge
	setAside  prometheus.Counter
}

// newMetrics registers the metrics; with a nil registerer they count for nobody.
func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "seckill_decisions_total", Help: "Tickets decided, by verdict."}, []string{"verdict"}),
		batches: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "seckill_batches_total", Help: "Batches decided and settled."}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "seckill_batch_seconds", Help: "Time from peek to settled, of a batch.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 13)}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "seckill_seller_panics_total", Help: "Panics that sellers went on from."}),
		sellers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "seckill_sellers", Help: "Items that have a seller."}),
		workers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "seckill_workers", Help: "Workers that live, as this one sees it."}),
		setAside: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "seckill_set_aside_total", Help: "Tickets decided as failed: look at the log."}),
	}
	if r != nil {
		r.MustRegister(m.decisions, m.batches, m.seconds, m.panics, m.sellers, m.workers, m.setAside)
	}
	return m
}

// settled counts one batch.
func (m *metrics) settled(verdicts []model.Verdict, took time.Duration) {
	m.batches.Inc()
	m.seconds.Observe(took.Seconds())
	for _, v := range verdicts {
		m.decisions.WithLabelValues(v.String()).Inc()
	}
}
