import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BlockPageDto } from '../../resources/block-pages/block-page.dto.js';
import {
  AddDomainDto,
  DomainPath,
  PatchDomainDto,
} from '../../resources/domain-lists/domain-rule.dto.js';
import { NaptDto, NaptPath, PatchNaptDto } from '../../resources/networks/napt/napt.dto.js';
import {
  Ipv4NetworkDto,
  Ipv6NetworkDto,
  Ipv6NetworkPath,
} from '../../resources/networks/prefixes/network.dto.js';
import { PatchProfileDto, ProfileDto } from '../../resources/profiles/profile.dto.js';
import { ScheduleDto } from '../../resources/schedules/schedule.dto.js';
import type { DtoClass } from './dto.js';
import { fieldsOf } from './fields.js';
import { read } from './reader.js';

const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -2, max: 70_000 }) },
  fc.constantFrom(
    '192.0.2.1',
    '2001:db8::1',
    'allow',
    'deny',
    '::ffff:192.0.2.1',
    '1.2.3',
    'Example.COM',
    'friday',
    '18:30',
    '7',
    '-1',
    '007',
    '65536',
    '7.0',
    '99999999999999999',
  ),
  fc.constantFrom(null, true, false, 7.5, 24.0, [], {}),
  fc.array(fc.integer({ min: -1, max: 9 }), { maxLength: 3 }),
);

/** Objects similar to those of the class: most fields are present and valid, and a few are unknown. */
function like(type: DtoClass): fc.Arbitrary<unknown> {
  const fields = fieldsOf(type).map(({ name, type: inner, isList }) => {
    const nested = inner && like(inner);
    const right = nested && isList ? fc.array(nested, { maxLength: 2 }) : nested;
    return [name, right ? fc.oneof({ weight: 9, arbitrary: right }, value) : value] as const;
  });
  const shape = Object.fromEntries(fields);
  return fc.oneof(
    { weight: 20, arbitrary: fc.record(shape, { requiredKeys: [] }) },
    fc.record({ ...shape, unknown: value }, { requiredKeys: [] }),
    value,
  );
}

it.each([
  ProfileDto,
  PatchProfileDto,
  Ipv4NetworkDto,
  Ipv6NetworkDto,
  NaptDto,
  PatchNaptDto,
  BlockPageDto,
  AddDomainDto,
  PatchDomainDto,
  ScheduleDto,
  NaptPath,
  Ipv6NetworkPath,
  DomainPath,
])('accepts %o exactly when class-validator does, with the same result', (type) => {
  fc.assert(
    fc.property(like(type), (plain) => {
      const { value: instance, faults } = read(type as DtoClass, structuredClone(plain));
      if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
        expect(faults).toEqual([{ loc: [], msg: 'Must be an object', type: 'object_type' }]);
        return;
      }
      const expected = plainToInstance(type as DtoClass, structuredClone(plain));
      const errors = validateSync(expected, { whitelist: true, forbidNonWhitelisted: true });
      expect(faults.length > 0).toBe(errors.length > 0);
      if (faults.length === 0) expect(instance).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});
