/** Milliseconds of a clock that all processes of this machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
