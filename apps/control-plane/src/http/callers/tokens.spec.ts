import { sha256 } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { checkToken, environmentTokens, type Token } from './tokens.js';

const TOKENS = environmentTokens(['secret']);
/** As if a file had been taken that accepts the empty token. */
const OPEN: readonly Token[] = [{ ...TOKENS[0], name: 'open', digest: sha256('') }];

describe('checkToken', () => {
  it.each(['Bearer secret', 'bearer  secret'])('takes %j for the token', (authorization) => {
    expect(checkToken(TOKENS, authorization, null, 0).caller?.name).toBe('env-1');
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic secret', 'Bearer a b', 'secret'])(
    'compares no token with %j, which is none',
    (authorization) => {
      const { caller } = checkToken(OPEN, authorization, null, 0);
      expect(caller).toBeNull();
    },
  );
});
