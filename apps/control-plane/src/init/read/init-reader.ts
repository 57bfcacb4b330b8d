import { RuleVerdict } from '@weir/config-model';
import { DomainError } from '@weir/dns-name';
import { NO_BODY, REPEATED_FIELD } from '../../http/pipeline/parse-body.js';
import type { DtoClass } from '../../http/validation/dto.js';
import { type Fault, FaultList, prefixFaults, throwIfFaults } from '../../http/validation/fault.js';
import { read, readerOf } from '../../http/validation/reader.js';
import { BlockPageDto } from '../../resources/block-pages/block-page.dto.js';
import { type DomainHasher, wrongDomain } from '../../resources/domain-lists/domain-check.js';
import { IPV4, IPV6 } from '../../resources/networks/addresses/addresses.js';
import { NaptDto, toAssignment } from '../../resources/networks/napt/napt.dto.js';
import {
  Ipv4NetworkDto,
  Ipv6NetworkDto,
  toRecord,
} from '../../resources/networks/prefixes/network.dto.js';
import { ProfileDto, toDraft } from '../../resources/profiles/profile.dto.js';
import { Draft } from '../draft/draft.js';
import { DomainListDto, InitDto, type InitList, locationOf } from './init.dto.js';
import { JsonLists, JsonSizeError, JsonSyntaxError, type ListSink } from './json-lists.js';

/** Validates one value of a list and adds it to the draft. */
type RowReader = (plain: unknown, at: number) => void;

/** Reads the body of POST /init/ while it arrives, and validates each value on its own. */
export class InitReader implements ListSink {
  private readonly draft = new Draft();
  private readonly faults = new FaultList();
  private readonly lists = new JsonLists({ bw_lists: 'domains' }, this);
  private readonly readers: { readonly [K in InitList]: RowReader };
  private isMalformed = false;
  private isEmpty = true;
  /** Whether the rest of the body needs to be read. */
  goesOn = true;

  constructor(private readonly hasher: DomainHasher) {
    const { draft } = this;
    this.readers = {
      blockpages: this.reader('blockpages', BlockPageDto, (dto) => draft.blockPages.add(dto)),
      profiles: this.reader('profiles', ProfileDto, (dto) => draft.profiles.add(toDraft(dto))),
      bw_lists: this.reader('bw_lists', DomainListDto, (dto, at) =>
        draft.domainRules.addItem(at, dto.profile_id, RuleVerdict[dto.type]),
      ),
      napts: this.reader('napts', NaptDto, (dto) => draft.napts.add(toAssignment(dto))),
      nets: this.reader('nets', Ipv4NetworkDto, (dto) =>
        draft.ipv4Networks.add(toRecord(IPV4, dto)),
      ),
      nets6: this.reader('nets6', Ipv6NetworkDto, (dto) =>
        draft.ipv6Networks.add(toRecord(IPV6, dto)),
      ),
    };
  }

  push(bytes: Uint8Array): void {
    if (!this.goesOn) return;
    this.isEmpty &&= bytes.length === 0;
    this.attempt(() => this.lists.push(bytes));
    if (this.faults.isFull) this.goesOn = false;
  }

  /** @throws InvalidRequestError with the faults. */
  end(): Draft {
    if (this.isEmpty) throwIfFaults(prefixFaults(['body'], [NO_BODY]));
    if (this.goesOn) {
      this.attempt(() => {
        const outside = read(InitDto, this.lists.end());
        this.faults.add(...prefixFaults(['body'], outside.faults));
      });
    }
    if (this.isMalformed) throwIfFaults([{ loc: ['body'], msg: 'Not JSON', type: 'json_invalid' }]);
    this.faults.throwIfAny();
    return this.draft;
  }

  /** An error of the body stops the reading. */
  private attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.goesOn = false;
      if (error instanceof JsonSyntaxError) {
        this.isMalformed = true;
      } else if (error instanceof JsonSizeError) {
        const loc = ['body', ...error.path];
        this.faults.add({ loc, msg: 'The value is too long', type: 'value_error' });
      } else throw error;
    }
  }

  values(key: string, first: number, values: readonly unknown[]): void {
    // An unknown list is reported by `end`.
    const read = Object.hasOwn(this.readers, key) ? this.readers[key as InitList] : null;
    if (read) for (const [i, value] of values.entries()) read(value, first + i);
  }

  nestedValues(_key: string, at: number, first: number, values: readonly unknown[]): void {
    for (const [i, value] of values.entries()) this.readDomain(value, at, first + i);
  }

  repeatedField(path: readonly string[]): void {
    this.faults.add(...prefixFaults(['body', ...path], [REPEATED_FIELD]));
  }

  private reader<T extends object>(
    list: InitList,
    type: DtoClass<T>,
    add: (dto: T, at: number) => void,
  ): RowReader {
    const reader = readerOf(type);
    let faults: Fault[] = [];
    return (plain, at) => {
      const dto = reader.read(plain, faults);
      if (faults.length === 0) {
        add(dto, at);
      } else {
        this.faults.add(...prefixFaults(locationOf(list, at), faults));
        faults = [];
      }
    };
  }

  private readDomain(value: unknown, at: number, position: number): void {
    const hash = typeof value === 'string' ? this.hash(value) : null;
    if (hash !== null) {
      this.draft.domainRules.addDomain(at, hash);
      return;
    }
    const wrong = wrongDomain(value);
    const loc = locationOf('bw_lists', at, 'domains', String(position));
    if (wrong !== null) this.faults.add({ loc, ...wrong });
  }

  private hash(text: string): number | null {
    try {
      return this.hasher.hash(text);
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }
}
