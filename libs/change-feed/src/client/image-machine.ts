import type { ActiveCatalogue } from '@weir/config-model';

/** What is done about the catalogue image that the configuration in force names. */
export type ImagePhase =
  /** The image that is wanted is in use, or none is wanted and none in use. */
  | { readonly name: 'settled' }
  /** Nothing is in use yet: looks for this image on the disk, or else for an older one to go on with. */
  | { readonly name: 'restoring'; readonly image: ActiveCatalogue }
  /** Fetches this image, verifies it and takes it into use. */
  | { readonly name: 'fetching'; readonly image: ActiveCatalogue }
  /** Waits before the next attempt. */
  | { readonly name: 'retrying'; readonly image: ActiveCatalogue }
  | { readonly name: 'stopped' };

export type ImageEvent =
  /** The configuration in force names this image; null: none. */
  | { readonly type: 'wanted'; readonly image: ActiveCatalogue | null }
  /** This image was on the disk and is in use now; null: there was none. */
  | { readonly type: 'restored'; readonly sha256: string | null }
  /** The image of the phase is in use now. */
  | { readonly type: 'fetched' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'resumed' }
  | { readonly type: 'stop' };

export type ImageEffect =
  | { readonly type: 'restore'; readonly image: ActiveCatalogue }
  | { readonly type: 'fetch'; readonly image: ActiveCatalogue }
  /** The fetch that is under way is for an image that nobody wants any longer. It ends with an event as any other. */
  | { readonly type: 'abort' }
  | { readonly type: 'pause'; readonly failures: number }
  /** Ends a pause without `resumed`. */
  | { readonly type: 'cancelPause' }
  /** Use no image. */
  | { readonly type: 'dismiss' }
  | { readonly type: 'reportFailure'; readonly image: ActiveCatalogue; readonly reason: string };

/**
 * Decides when the image of a catalogue is fetched, without I/O, clock or randomness. It runs beside the change log:
 * the log never waits for an image. Until the image that is wanted is there, the one before stays in use.
 */
export class ImageMachine {
  private currentPhase: ImagePhase = { name: 'settled' };
  private wanted: ActiveCatalogue | null = null;
  private sha256InUse: string | null = null;
  private failures = 0;
  private effects: ImageEffect[] = [];

  get phase(): ImagePhase {
    return this.currentPhase;
  }

  /** The sha256 of the image in use; null: none. */
  get inUse(): string | null {
    return this.sha256InUse;
  }

  /** The image that is wanted and not in use; null: nothing is missing. */
  get missing(): ActiveCatalogue | null {
    return this.isSettled ? null : this.wanted;
  }

  /** @returns what to do, in order. */
  handle(event: ImageEvent): readonly ImageEffect[] {
    this.effects = [];
    if (this.phase.name !== 'stopped') this.dispatch(event);
    return this.effects;
  }

  private get isSettled(): boolean {
    return this.sha256InUse === (this.wanted?.sha256 ?? null);
  }

  private dispatch(event: ImageEvent): void {
    switch (event.type) {
      case 'wanted':
        return this.want(event.image);
      case 'restored':
        this.sha256InUse = event.sha256;
        return this.goOn();
      case 'fetched':
        this.sha256InUse = this.imageUnderWay('fetched').sha256;
        this.failures = 0;
        return this.goOn();
      case 'failed':
        return this.fail(event.reason);
      case 'resumed':
        if (this.phase.name !== 'retrying') throw this.impossible('resumed');
        return this.goOn();
      case 'stop':
        return this.stop();
    }
  }

  private want(image: ActiveCatalogue | null): void {
    if (image?.sha256 === this.wanted?.sha256) return;
    this.wanted = image;
    this.failures = 0;
    const { name } = this.phase;
    // What is under way ends with an event, and then this goes on with what is wanted.
    if (name === 'restoring') return;
    if (name === 'fetching') return this.emit({ type: 'abort' });
    if (name === 'retrying') this.emit({ type: 'cancelPause' });
    this.goOn();
  }

  private goOn(): void {
    const { wanted: image } = this;
    if (image === null) {
      if (!this.isSettled) this.emit({ type: 'dismiss' });
      this.sha256InUse = null;
      this.currentPhase = { name: 'settled' };
    } else if (this.isSettled) {
      this.currentPhase = { name: 'settled' };
    } else if (this.sha256InUse === null && this.phase.name === 'settled') {
      this.currentPhase = { name: 'restoring', image };
      this.emit({ type: 'restore', image });
    } else {
      this.currentPhase = { name: 'fetching', image };
      this.emit({ type: 'fetch', image });
    }
  }

  private fail(reason: string): void {
    const image = this.imageUnderWay('failed');
    // It was given up for another image.
    if (image.sha256 !== this.wanted?.sha256) return this.goOn();
    const { failures } = this;
    this.failures++;
    this.currentPhase = { name: 'retrying', image };
    this.emit({ type: 'reportFailure', image, reason }, { type: 'pause', failures });
  }

  private stop(): void {
    const { name } = this.phase;
    if (name === 'fetching') this.emit({ type: 'abort' });
    if (name === 'retrying') this.emit({ type: 'cancelPause' });
    this.currentPhase = { name: 'stopped' };
  }

  private imageUnderWay(event: ImageEvent['type']): ActiveCatalogue {
    const { phase } = this;
    if (phase.name === 'fetching') return phase.image;
    throw this.impossible(event);
  }

  private impossible(event: ImageEvent['type']): Error {
    return new Error(`images that are ${this.phase.name} cannot take '${event}'`);
  }

  private emit(...effects: ImageEffect[]): void {
    this.effects.push(...effects);
  }
}
