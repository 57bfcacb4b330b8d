import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { ownTimeZone } from './api.js';
import { locale, t } from './i18n/index.js';
import { theme } from './setting.js';

const HEIGHT = 220;
/** Of the lines. Each has a contrast of 3:1 or more on light and dark ground. */
const COLOURS = ['#0e8299', '#b26a00', '#8a5cd0', '#2f8a4c', '#c2417a', '#6b7a2a'];

interface ChartProperties {
  readonly label: string;
  /** Of the lines. */
  readonly names: readonly string[];
  /** Times in seconds since 1970, then the values of each line. */
  readonly data: uPlot.AlignedData;
}

/** Lines over time. The library is loaded when the first one appears. The values are in a table beside it. */
export function Chart({ label, names, data }: ChartProperties): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => plot.current?.setData(data), [data]);
  // The labels have the colour of the text.
  useEffect(() => plot.current?.redraw(), [theme.value]);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => plot.current?.redraw();
    scheme.addEventListener('change', redraw);
    return () => scheme.removeEventListener('change', redraw);
  }, []);
  useEffect(() => {
    const target = element.current;
    let isOver = false;
    const draw = async (): Promise<void> => {
      const { default: Plot } = await import('uplot');
      if (isOver || target === null) return;
      const stroke = (): string => getComputedStyle(target).color;
      const axis = { stroke, grid: { stroke: '#8884', width: 1 }, ticks: { show: false } };
      const timeZone = ownTimeZone();
      const clock = new Intl.DateTimeFormat(locale.value, { timeStyle: 'medium', timeZone });
      const timeAt = (seconds: number): string => clock.format(seconds * 1_000);
      plot.current = new Plot(
        {
          width: target.clientWidth,
          height: HEIGHT,
          axes: [{ ...axis, space: 90, values: (_, times) => times.map(timeAt) }, axis],
          scales: {
            y: { range: (_, __, most) => [0, Math.max(most, 1)] },
          },
          series: [
            {
              label: t('changes.time'),
              value: (_, seconds: number | null) => (seconds === null ? '–' : timeAt(seconds)),
            },
            ...names.map((name, i) => ({
              label: name,
              stroke: COLOURS[i % COLOURS.length],
              width: 2,
            })),
          ],
        },
        latest.current,
        target,
      );
    };
    const resize = new ResizeObserver(() => {
      plot.current?.setSize({ width: target?.clientWidth ?? 0, height: HEIGHT });
    });
    if (target !== null) resize.observe(target);
    // Without the library the table says the same.
    void draw().catch(() => undefined);
    return () => {
      isOver = true;
      resize.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [names.join(), locale.value]);
  return <div ref={element} class="chart" role="img" aria-label={label} />;
}
