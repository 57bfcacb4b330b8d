/** An event of a stream. */
export interface ReceivedEvent {
  readonly id: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- looked into here and there
  readonly data: any;
}

/** Reads a stream of events as it comes. */
export class EventReader {
  readonly events: ReceivedEvent[] = [];
  comments = 0;
  private readonly aborting = new AbortController();

  private constructor(readonly status: number) {}

  /** Whether the server has ended the stream, as it should; a connection that breaks is an error. */
  ended: Promise<boolean> = Promise.resolve(false);

  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const aborting = new AbortController();
    const response = await fetch(url, {
      headers: { Accept: 'text/event-stream', ...headers },
      signal: aborting.signal,
    });
    const reader = new EventReader(response.status);
    reader.aborting.signal.addEventListener('abort', () => aborting.abort());
    reader.ended = reader.readAll(response).then(
      () => true,
      () => false,
    );
    return reader;
  }

  get ids(): number[] {
    return this.events.map(({ id }) => id);
  }

  close(): Promise<boolean> {
    this.aborting.abort();
    return this.ended;
  }

  private async readAll({ body }: Response): Promise<void> {
    let text = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        this.take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  }

  private take(block: string): void {
    if (block === ':') this.comments++;
    const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? [];
    if (id !== undefined) this.events.push({ id: Number(id), data: JSON.parse(data) });
  }
}
