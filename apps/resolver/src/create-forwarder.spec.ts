import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { capacityOf, openFilesLimit, portsFor } from './create-forwarder.js';

function limitsFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-limits-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'limits'), text);
  return join(folder, 'limits');
}

it('reads the soft limit of open files', () => {
  const text =
    'Max processes  100  200  processes\nMax open files            1024   4096   files\n';
  expect(openFilesLimit(limitsFile(text))).toBe(1024);
});

it('knows no limit where there is none, and where the file is missing', () => {
  const text = 'Max open files            unlimited   unlimited   files\n';
  expect(openFilesLimit(limitsFile(text))).toBe(Infinity);
  expect(openFilesLimit('/nowhere/limits')).toBe(Infinity);
});

it('gives each upstream the wanted ports, but leaves three quarters of the files to clients', () => {
  expect(portsFor(64, 2, 65_536)).toBe(64);
  expect(portsFor(64, 2, Infinity)).toBe(64);
  expect(portsFor(64, 16, 1024)).toBe(16);
  expect(portsFor(64, 16, 10)).toBe(1);
});

it('threads share what may be in flight, but each has a quarter', () => {
  expect([1, 2, 3, 4, 8, 64].map((threads) => capacityOf(8192, threads))).toEqual([
    8192, 8192, 5461, 4096, 2048, 2048,
  ]);
});
