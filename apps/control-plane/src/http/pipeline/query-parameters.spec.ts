import 'reflect-metadata';
import { MAX_ID } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { createDocument } from '../openapi/document.js';
import { endpointOf, READING, ReadingEndpoint } from '../routing/endpoint.js';
import { Example } from '../validation/dto.js';
import { InvalidRequestError } from '../validation/fault.js';
import { IntegerParameter, IsOneOf, IsTime, Optional } from '../validation/rules.js';
import { readRequest } from './read-request.js';

@Example<BooksQuery>({ limit: 20, sort: 'title' })
class BooksQuery {
  @Optional()
  @IntegerParameter(1, MAX_ID)
  limit = 10;

  @IsOneOf(['title', 'year'])
  sort!: string;

  @Optional()
  @IsTime()
  since?: string;
}

@Example<BookDto>({ title: 'A' })
class BookDto {
  @IsOneOf(['A', 'B'])
  title!: string;
}

class BooksController {
  @ReadingEndpoint('GET /books/', { query: BooksQuery, answer: [BookDto], summary: 'Books' })
  list(): void {}

  @ReadingEndpoint('GET /book/', { answer: BookDto, summary: 'A book' })
  get(): void {}
}

const [books, book] = ['list', 'get'].map((name) =>
  endpointOf(Reflect.get(BooksController.prototype, name) as object)!,
);

function readQuery(search: string, endpoint = books): unknown {
  try {
    return readRequest(endpoint, {}, search, { value: undefined }).query;
  } catch (error) {
    const { faults } = error as InvalidRequestError;
    return faults.map(({ loc, type }) => `${loc.join('.')}: ${type}`);
  }
}

describe('query parameters', () => {
  it.each([
    ['sort=title', { limit: 10, sort: 'title' }],
    ['limit=20&sort=year', { limit: 20, sort: 'year' }],
    ['&sort=%79ear&', { limit: 10, sort: 'year' }],
    [
      'sort=title&since=2027-01-31T12:00:00+01:00',
      { limit: 10, sort: 'title', since: '2027-01-31T12:00:00+01:00' },
    ],
    [
      'sort=title&since=2027-01-31T12%3A00%3A00%2B01%3A00',
      { limit: 10, sort: 'title', since: '2027-01-31T12:00:00+01:00' },
    ],
  ])('%s is read', (search, value) => {
    expect(readQuery(search)).toEqual(value);
  });

  it.each([
    ['', ['query.sort: missing']],
    ['sort', ['query.sort: enum']],
    ['sort=Year', ['query.sort: enum']],
    ['sort=year=', ['query.sort: enum']],
    ['sort=year&sort=year', ['query.sort: duplicate']],
    ['sort=year&limit=x&limit=2', ['query.limit: duplicate']],
    ['sort=year&sorted=year', ['query.sorted: extra_forbidden']],
    ['sort=year&__proto__=7', ['query.__proto__: extra_forbidden']],
    ['sort=year&Limit=7&=', ['query.Limit: extra_forbidden', 'query.: extra_forbidden']],
    ['sort=%E0%A4%A&limit=%', ['query.sort: value_error', 'query.limit: value_error']],
    ['sort=year&%=1', ['query.: value_error']],
    ...['', '1.0', '1e2', '+1', ' 1', '0x1', '1,2'].map((text) => [
      `sort=year&limit=${text}`,
      ['query.limit: int_type'],
    ]),
    ['sort=year&limit=0', ['query.limit: greater_than_equal']],
    ...[
      '',
      'now',
      '1800000000',
      '2027-01-31',
      '2027-01-31T12:00:00',
      '2027-01-31T12:00Z',
      '2027-01-31%2012:00:00Z',
      '2027-02-30T12:00:00Z',
      '0000-01-01T00:00:00%2B01:00',
      '9999-12-31T23:59:59-01:00',
    ].map((text) => [`sort=year&since=${text}`, ['query.since: value_error']]),
  ])('%s is 422 with %j', (search, faults) => {
    expect(readQuery(search as string)).toEqual(faults);
  });

  it('are unknown to an endpoint that declares none', () => {
    expect(readQuery('', book)).toEqual({});
    expect(readQuery('limit=1', book)).toEqual(['query.limit: extra_forbidden']);
  });

  it('are in the OpenAPI document, which lists the endpoint under the tag of all that only reads', () => {
    const { paths } = createDocument([books, book]);
    expect(paths['/books/']['get']).toMatchObject({
      tags: [READING],
      parameters: [
        {
          name: 'limit',
          in: 'query',
          required: false,
          schema: { type: 'integer', minimum: 1, maximum: MAX_ID, default: 10 },
          example: 20,
        },
        { name: 'sort', required: true, schema: { enum: ['title', 'year'] }, example: 'title' },
        { name: 'since', required: false, schema: { type: 'string', format: 'date-time' } },
      ],
    });
    expect(paths['/books/']['get'].responses).toHaveProperty('422');
    expect(paths['/book/']['get']).not.toHaveProperty('parameters');
    expect(paths['/book/']['get'].responses).toHaveProperty('422');
  });
});
