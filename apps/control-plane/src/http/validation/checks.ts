import { MAX_ID } from '@weir/config-model';
import { prefixFaults, type Fault, type FaultType, MAX_FAULTS } from './fault.js';

/** JSON Schema of a value, as OpenAPI writes it. */
export type ValueSchema = Readonly<Record<string, unknown>>;

/** What values a field accepts: the schema documents it, and `faults` checks it. Values are never converted. */
export interface Check {
  readonly schema: ValueSchema;
  /**
   * The faults of a value; empty when it is valid.
   * @param owner the object that contains the field; its other fields are unchecked.
   */
  faults(value: unknown, owner?: object): readonly Fault[];
}

const NO_FAULTS: readonly Fault[] = [];

function fault(type: FaultType, msg: string): readonly Fault[] {
  return [{ loc: [], msg, type }];
}

/** An integer from `lowest` to `highest`. `24.0` is accepted, because JSON has one number type. */
export function integer(lowest: number, highest: number): Check {
  const msg = `Must be an integer from ${lowest} to ${highest}`;
  return {
    schema: { type: 'integer', minimum: lowest, maximum: highest },
    faults: (value) => {
      if (!Number.isInteger(value)) return fault('int_type', msg);
      if ((value as number) < lowest) return fault('greater_than_equal', msg);
      return (value as number) > highest ? fault('less_than_equal', msg) : NO_FAULTS;
    },
  };
}

/** Id of a profile, block page, application or category. */
export const id: Check = integer(0, MAX_ID);

export const flag: Check = {
  schema: { type: 'boolean' },
  faults: (value) =>
    typeof value === 'boolean' ? NO_FAULTS : fault('bool_type', 'Must be true or false'),
};

/** One of the given strings, or one of the given integers. */
export function oneOf(choices: readonly string[] | readonly number[]): Check {
  const textual = typeof choices[0] === 'string';
  const msg = `Must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`;
  return {
    schema: { type: textual ? 'string' : 'integer', enum: choices },
    faults: (value) => {
      if (textual && typeof value !== 'string') return fault('string_type', msg);
      if (!textual && !Number.isInteger(value)) return fault('int_type', msg);
      return (choices as readonly unknown[]).includes(value) ? NO_FAULTS : fault('enum', msg);
    },
  };
}

/** A string that `accepts` allows. @param what completes the message "Must be …". */
export function textForm(
  what: string,
  accepts: (text: string) => boolean,
  schema: ValueSchema = {},
): Check {
  const msg = `Must be ${what}`;
  return {
    schema: { type: 'string', ...schema },
    faults: (value) => {
      if (typeof value !== 'string') return fault('string_type', msg);
      return accepts(value) ? NO_FAULTS : fault('value_error', msg);
    },
  };
}

/** A value that `check` allows, or null. */
export function nullable(check: Check): Check {
  return {
    schema: { ...check.schema, nullable: true },
    faults: (value) => (value === null ? NO_FAULTS : check.faults(value)),
  };
}

/** Most items of a list in one change: all other changes wait until it is made and applied. */
export const MAX_ITEMS = 100_000;

/** An array whose items `check` allows. @param max number of items; Infinity: any number. */
export function listOf(check: Check, max = MAX_ITEMS): Check {
  const bound = Number.isFinite(max) ? { maxItems: max } : {};
  return {
    schema: { type: 'array', items: check.schema, ...bound },
    faults: (value) => {
      if (!Array.isArray(value)) return fault('list_type', 'Must be an array');
      if (value.length > max) return fault('too_long', `Must have at most ${max} items`);
      // No allocation for valid items, because lists may be long.
      const found: Fault[] = [];
      for (let i = 0; i < value.length && found.length < MAX_FAULTS; i++) {
        const faults = check.faults(value[i]);
        if (faults.length > 0) found.push(...prefixFaults([String(i)], faults));
      }
      return found;
    },
  };
}

/** A JSON object. Its class checks its fields. */
export const object: Check = {
  schema: { type: 'object' },
  faults: (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? NO_FAULTS
      : fault('object_type', 'Must be an object'),
};
