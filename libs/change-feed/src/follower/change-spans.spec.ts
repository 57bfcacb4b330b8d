import { describe, expect, it } from 'vitest';
import { ChangeSpans } from './change-spans.js';

function spans() {
  const said: string[] = [];
  const changes = new ChangeSpans({
    resume: (_name, { attributes }, traceparent) => {
      if (traceparent === 'not sampled') return null;
      const revision = attributes['weir.revision'];
      return {
        note: () => said.push(`in force ${revision}`),
        end: () => said.push(`end ${revision}`),
      };
    },
  });
  const receive = (revision: number, traceparent = 'trace', inForce: number | null = 0) =>
    changes.receive({ revision, digest: '', traceparent }, inForce);
  return { changes, said, receive };
}

describe('ChangeSpans', () => {
  it('ends the spans of all changes up to the acknowledged one, each once', () => {
    const { changes, said, receive } = spans();
    for (const revision of [2, 1, 3]) receive(revision);
    changes.noteInForce(2);
    changes.end(2);
    changes.end(2);
    expect(said).toEqual(['in force 2', 'in force 1', 'end 2', 'end 1']);
  });

  it('notes once that a change is in force, however many follow while the disk is slow', () => {
    const { changes, said, receive } = spans();
    for (const revision of [1, 2]) {
      receive(revision);
      changes.noteInForce(revision);
    }
    changes.end(2);
    expect(said).toEqual(['in force 1', 'in force 2', 'end 1', 'end 2']);
  });

  it('has no span for a change that is in force, was received before, or is not sampled', () => {
    const { changes, said, receive } = spans();
    receive(5, 'trace', 5);
    receive(6);
    receive(6);
    receive(7, 'not sampled');
    changes.end(9);
    expect(said).toEqual(['end 6']);
  });

  it('keeps the last thousand of a follower that is far behind', () => {
    const { changes, said, receive } = spans();
    for (let revision = 1; revision <= 1_500; revision++) receive(revision);
    changes.end(2_000);
    expect([said.length, said[0]]).toEqual([1_000, 'end 501']);
  });
});
