import { diag } from '@opentelemetry/api';
import { globalErrorHandler } from '@opentelemetry/core';
import { describe, expect, it } from 'vitest';
import { logExportErrors } from './start-sdk.js';

describe('logExportErrors', () => {
  it('logs a line a minute, with the number of errors so far and a short reason', () => {
    const lines: object[] = [];
    let nowMs = 0;
    logExportErrors({ warn: (fields: object) => void lines.push(fields) }, () => nowMs);
    globalErrorHandler(new Error('connect ECONNREFUSED'));
    diag.error('again');
    nowMs = 59_999;
    diag.warn('again');
    expect(lines).toEqual([{ reason: 'connect ECONNREFUSED', count: 1 }]);
    nowMs = 60_000;
    diag.warn('x'.repeat(1_000));
    expect(lines[1]).toEqual({ reason: 'x'.repeat(200), count: 4 });
  });
});
