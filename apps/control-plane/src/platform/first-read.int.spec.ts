import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Harness, startHarness } from '../testing/harness.js';

// The types of Node.js do not have it.
const { WebAssembly: webAssembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly Module: new (bytes: Uint8Array) => object };
};

describe('a control plane that has just started', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await harness.stop();
  });

  it('has loaded the compiler of its queries before the first one', async () => {
    const loaded = vi.spyOn(webAssembly, 'Module');
    expect((await harness.call('GET', '/profiles/1')).status).toBe(404);
    // Not the calls themselves: they have the bytes of the compiler.
    expect(loaded.mock.calls.length).toBe(0);
  });
});
