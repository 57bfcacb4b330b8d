import type { Span, SpanOptions, SpanResult } from '@weir/telemetry';

/** Spans in memory. Each says when it begins and ends: `<name> [shared with <name>] begins`. */
export class RecordedSpan implements Span {
  readonly traceId = '0af7651916cd43dd8448eb211c80319c';

  constructor(
    private readonly name: string,
    private readonly said: string[],
    { sharedWith }: SpanOptions = {},
  ) {
    const shared = sharedWith instanceof RecordedSpan ? ` shared with ${sharedWith.name}` : '';
    said.push(`${name}${shared} begins`);
  }

  get traceparent(): string {
    return `traceparent of ${this.name}`;
  }

  begin(name: string, options?: SpanOptions): Span {
    return new RecordedSpan(`${this.name} ${name}`, this.said, options);
  }

  note(name: string): void {
    this.said.push(`${this.name}: ${name}`);
  }

  end({ attributes = {}, hasFailed = false }: SpanResult = {}): void {
    const values = Object.values(attributes).map((value) => ` ${value}`);
    this.said.push(`${this.name} ${hasFailed ? 'fails' : 'ends'}${values.join('')}`);
  }
}
