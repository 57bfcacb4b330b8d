import {
  type Context,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type SpanOptions as SdkSpanOptions,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer as SdkTracerApi,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { Span, SpanOptions, SpanResult, Tracer } from '../telemetry.js';

/** A traceparent of version 00 has 55 characters. */
const MAX_TRACEPARENT_LENGTH = 128;

/** Passes contexts explicitly: nothing is registered globally. */
export class SdkTracer implements Tracer {
  constructor(private readonly tracer: SdkTracerApi) {}

  begin(name: string, options: SpanOptions, traceparent?: string): Span | null {
    return this.start(name, options, parentOf(traceparent) ?? ROOT_CONTEXT);
  }

  resume(name: string, options: SpanOptions, traceparent: string): Span | null {
    const parent = parentOf(traceparent);
    return parent && this.start(name, options, parent);
  }

  private start(name: string, options: SpanOptions, parent: Context): Span | null {
    const span = this.tracer.startSpan(name, toSdkOptions(options), parent);
    return span.isRecording() ? new RecordedSpan(this.tracer, span) : null;
  }
}

class RecordedSpan implements Span {
  constructor(
    private readonly tracer: SdkTracerApi,
    private readonly span: SdkSpan,
  ) {}

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  begin(name: string, options: SpanOptions = {}): Span {
    const parent = trace.setSpan(ROOT_CONTEXT, this.span);
    const span = this.tracer.startSpan(name, toSdkOptions(options), parent);
    return new RecordedSpan(this.tracer, span);
  }

  note(name: string): void {
    this.span.addEvent(name, {}, performance.now());
  }

  end({ attributes = {}, hasFailed = false }: SpanResult = {}): void {
    this.span.setAttributes(attributes);
    if (hasFailed) this.span.setStatus({ code: SpanStatusCode.ERROR });
    // Otherwise the wall clock ends a span whose beginning was given: in whole milliseconds, and it may be set back.
    this.span.end(performance.now());
  }
}

function toSdkOptions({
  kind = 'internal',
  startedMs,
  attributes = {},
  sharedWith,
}: SpanOptions): SdkSpanOptions {
  const shared = sharedWith && parseTraceParent(sharedWith.traceparent);
  return {
    kind: SpanKind[kind.toUpperCase() as Uppercase<typeof kind>],
    attributes,
    ...(startedMs !== undefined && { startTime: startedMs }),
    ...(shared && { links: [{ context: shared }] }),
  };
}

/** Null: it is absent or not valid. */
function parentOf(traceparent: string | undefined): Context | null {
  if (traceparent === undefined || traceparent.length > MAX_TRACEPARENT_LENGTH) return null;
  const context = parseTraceParent(traceparent);
  return context && trace.setSpanContext(ROOT_CONTEXT, { ...context, isRemote: true });
}
