import type { ActiveCatalogue } from '@weir/config-model';
import { type ImageEffect, type ImageEvent, ImageMachine } from '../client/image-machine.js';

type Step = Extract<ImageEffect, { type: 'restore' | 'fetch' | 'pause' }>;

/**
 * Carries out the effects of an `ImageMachine`. A step stays under way until `succeed` or `fail` is called. Throws as
 * soon as an effect breaks a rule.
 */
export class SimulatedImages {
  readonly machine = new ImageMachine();
  /** The sha256 of the image in use. */
  inUse: string | null = null;
  private step: Step | null = null;

  get isStepUnderWay(): boolean {
    return this.step !== null;
  }

  want(image: ActiveCatalogue | null): void {
    this.handle({ type: 'wanted', image });
  }

  stop(): void {
    this.handle({ type: 'stop' });
  }

  /** The image that is asked for has arrived, whether or not it is still wanted; or the pause is over. */
  succeed(): void {
    const { step } = this;
    this.step = null;
    switch (step?.type) {
      case undefined:
        return;
      case 'restore':
        return this.handle({ type: 'restored', sha256: null });
      case 'fetch':
        this.inUse = step.image.sha256;
        return this.handle({ type: 'fetched' });
      case 'pause':
        return this.handle({ type: 'resumed' });
    }
  }

  /** The image is missing, wrong, or cannot be downloaded. */
  fail(): void {
    if (this.step?.type !== 'fetch') return this.succeed();
    this.step = null;
    this.handle({ type: 'failed', reason: 'simulated' });
  }

  /** Looks for an image on the disk, and finds an older one. */
  findOlder(): void {
    if (this.step?.type !== 'restore') return;
    this.step = null;
    this.inUse = 'an older image';
    this.handle({ type: 'restored', sha256: this.inUse });
  }

  private handle(event: ImageEvent): void {
    for (const effect of this.machine.handle(event)) this.carryOut(effect);
    const { machine } = this;
    if (machine.phase.name === 'stopped') return;
    assertRule(machine.inUse === this.inUse, 'the machine knows which image is in use');
    const isAtRest = machine.phase.name === 'settled';
    assertRule(isAtRest !== this.isStepUnderWay, 'a step is under way unless at rest');
    assertRule(!isAtRest || machine.missing === null, 'no rest while an image is missing');
  }

  private carryOut(effect: ImageEffect): void {
    switch (effect.type) {
      case 'restore':
      case 'fetch':
      case 'pause':
        assertRule(this.step === null, 'one image at a time');
        this.step = effect;
        return;
      case 'cancelPause':
        assertRule(this.step?.type === 'pause', 'there is a pause to end');
        this.step = null;
        return;
      case 'dismiss':
        this.inUse = null;
        return;
      // An abort ends with an event; nothing to simulate.
      case 'abort':
      case 'reportFailure':
        return;
    }
  }
}

function assertRule(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`broken rule of images: ${rule}`);
}
