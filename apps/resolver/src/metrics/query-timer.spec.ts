import { describe, expect, it } from 'vitest';
import { AnswerSource, LatencyHistogram } from './query-timer.js';

function lines(histogram: LatencyHistogram, source: string): Record<string, number> {
  const values = histogram.lines('x').filter(({ labels }) => labels.source === source);
  return Object.fromEntries(
    values.map(({ metricName, labels, value }) => [labels.le ?? metricName, value]),
  );
}

describe('LatencyHistogram', () => {
  it('counts cumulatively, in seconds, with inclusive bounds', () => {
    const histogram = new LatencyHistogram();
    histogram.observe(AnswerSource.cached, 0.01, 8);
    histogram.observe(AnswerSource.cached, 0.02, 8);
    histogram.observe(AnswerSource.cached, 9999, 1);
    const cached = lines(histogram, 'cached');
    expect(cached).toMatchObject({
      '0.00001': 8,
      '0.000025': 16,
      '5': 16,
      '+Inf': 17,
      x_count: 17,
    });
    expect(cached.x_sum).toBeCloseTo(9.99924, 5);
    expect(lines(histogram, 'upstream')).toMatchObject({ '+Inf': 0, x_sum: 0, x_count: 0 });
  });
});
