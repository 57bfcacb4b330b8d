import { needs } from '@weir/ops/testing';
import { describe, it } from 'vitest';

describe('with a program that nobody has', needs('no-such-program', 'node'), () => {
  it('is skipped', () => undefined);
});

it('is skipped by its context', ({ skip }) => {
  skip(true, 'another machine');
});

it.skip('has no reason', () => undefined);

it('passes', () => undefined);
