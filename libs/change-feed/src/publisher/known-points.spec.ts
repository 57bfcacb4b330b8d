import { beforeEach, describe, expect, it } from 'vitest';
import { KnownPoints } from './claim-verifier.js';

const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const OTHER = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a02';
/** Later than everything that follows a start. */
const LATER = 1_000_000;

const head = (revision: number, log = 'a', lineage = LINEAGE) => ({
  lineage,
  revision,
  digest: `${log} ${revision}`,
});

describe('KnownPoints', () => {
  let points: KnownPoints;
  const read = (one: ReturnType<typeof head>, nowMs = LATER) => {
    points.read(one, points.beginRead(), nowMs);
  };
  beforeEach(() => {
    points = new KnownPoints(0);
    read(head(100), 0);
  });

  it('judges a digest as wrong when the log has another', () => {
    points.committed(head(101), LATER);
    expect(points.judge(head(101), LATER)).toBe('right');
    expect(points.judge(head(101, 'b'), LATER)).toBe('wrong');
    expect(points.judge(head(100, 'b'), LATER)).toBe('wrong');
  });

  it('judges as right what it cannot check: old revisions, changes of other replicas', () => {
    expect(points.judge(head(50, 'b'), LATER)).toBe('right');
    expect(points.judge(head(105), LATER)).toBe('right');
  });

  it('asks for the head when a follower is ahead of it that was not known before', () => {
    const begun = points.beginRead();
    expect(points.judge(head(105, 'lost'), LATER, true)).toBe('unknown');
    // A read that had begun before says nothing about it.
    points.read(head(104), begun, LATER);
    expect(points.judge(head(105, 'lost'), LATER)).toBe('unknown');
    read(head(104));
    expect(points.judge(head(105, 'lost'), LATER)).toBe('wrong');
    expect(points.judge(head(104), LATER, true)).toBe('right');
  });

  it('does not check the points of another lineage', () => {
    expect(points.judge(head(100, 'b', OTHER), LATER)).toBe('right');
  });

  it('asks for the head when a follower is ahead of it after a start', () => {
    expect(points.judge(head(105, 'lost'), 1_000)).toBe('unknown');
    read(head(105), 1_000);
    expect(points.judge(head(105), 1_000)).toBe('right');
    expect(points.judge(head(105, 'lost'), 1_000)).toBe('wrong');
  });

  it('believes no follower that is ahead after the log was set back', () => {
    for (let revision = 101; revision <= 105; revision++) points.committed(head(revision), LATER);
    read(head(102));
    expect(points.judge(head(105), LATER)).toBe('wrong');
    expect(points.judge(head(102), LATER)).toBe('right');
    points.committed(head(103, 'b'), LATER);
    expect(points.judge(head(103), LATER)).toBe('wrong');
    expect(points.judge(head(103, 'b'), LATER)).toBe('right');
    expect(points.judge(head(107), LATER)).toBe('unknown');
  });

  it('notices at its first commit after a failover that the log was set back', () => {
    for (let revision = 101; revision <= 105; revision++) points.committed(head(revision), LATER);
    const later = LATER + 5_000;
    points.committed(head(103, 'b'), later);
    expect(points.judge(head(105), later)).toBe('wrong');
    expect(points.judge(head(107), later)).toBe('unknown');
    expect(points.judge(head(103), later)).toBe('wrong');
  });

  it('is in doubt when its own commit has a lower revision than a head that it read seconds before', () => {
    read(head(105));
    const later = LATER + 5_000;
    points.committed(head(103, 'b'), later);
    expect(points.isInDoubt).toBe(true);
    expect(points.judge(head(103, 'b'), later)).toBe('unknown');
    expect(points.judge(head(105), later)).toBe('unknown');
    read(head(103, 'b'), later);
    expect(points.isInDoubt).toBe(false);
    expect(points.judge(head(103, 'b'), later)).toBe('right');
    expect(points.judge(head(105), later)).toBe('wrong');
  });

  it('is in doubt as well when it read that head a moment before', () => {
    for (const revision of [105, 106]) read(head(revision));
    points.committed(head(103, 'b'), LATER + 200);
    expect(points.judge(head(106), LATER + 200)).toBe('unknown');
    read(head(103, 'b'), LATER + 201);
    expect(points.judge(head(106), LATER + 201)).toBe('wrong');
    expect(points.judge(head(103, 'b'), LATER + 201)).toBe('right');
  });

  it('loses its doubt when another replica has only committed a moment later', () => {
    read(head(105));
    points.committed(head(103), LATER + 200);
    expect(points.isInDoubt).toBe(true);
    read(head(105), LATER + 201);
    expect(points.judge(head(105), LATER + 201)).toBe('right');
  });

  it('is in doubt when a follower has had a higher revision than its own commit', () => {
    expect(points.judge(head(110), LATER)).toBe('right');
    points.committed(head(103, 'b'), LATER + 200);
    expect(points.judge(head(110), LATER + 200)).toBe('unknown');
    read(head(103, 'b'), LATER + 201);
    expect(points.judge(head(110), LATER + 201)).toBe('wrong');
    expect(points.judge(head(103, 'b'), LATER + 201)).toBe('right');
  });

  it('never believes a lost revision again, also when the log has passed it', () => {
    points.judge(head(110), LATER);
    read(head(103, 'b'));
    read(head(120, 'b'));
    expect(points.judge(head(110), LATER)).toBe('wrong');
    expect(points.judge(head(110, 'b'), LATER)).toBe('right');
  });

  it('believes a lost revision when the same change has been made again', () => {
    points.judge(head(101), LATER);
    read(head(100));
    expect(points.judge(head(101), LATER)).toBe('wrong');
    points.committed(head(101), LATER);
    expect(points.judge(head(101), LATER)).toBe('right');
  });

  it('does not call a revision lost because of a read that began before a follower had it', () => {
    const begun = points.beginRead();
    expect(points.judge(head(101), LATER)).toBe('right');
    points.read(head(100), begun, LATER);
    expect(points.judge(head(101), LATER)).toBe('right');
  });

  it('does not conclude from a head that was read before its own commit that the log was set back', () => {
    const begun = points.beginRead();
    points.committed(head(101), LATER);
    points.committed(head(102), LATER);
    points.read(head(101), begun, LATER);
    expect(points.judge(head(102), LATER)).toBe('right');
    expect(points.judge(head(102, 'b'), LATER)).toBe('wrong');
  });

  it('begins anew with another lineage', () => {
    read(head(7, 'restored', OTHER));
    expect(points.judge(head(7, 'restored', OTHER), LATER)).toBe('right');
    expect(points.judge(head(7, 'b', OTHER), LATER)).toBe('wrong');
  });
});
