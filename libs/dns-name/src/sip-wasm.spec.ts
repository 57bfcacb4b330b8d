import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import wabt from 'wabt';

const SOURCE = fileURLToPath(new URL('./sip.wat', import.meta.url));
const BASE64_OF_A_LINE = 96;

it('has the instructions of sip.wat (npm test -- --project unit libs/dns-name -u compiles it again)', async () => {
  const compiler = await wabt();
  const { buffer } = compiler.parseWat(SOURCE, readFileSync(SOURCE, 'utf8')).toBinary({});
  const lines = Buffer.from(buffer)
    .toString('base64')
    .match(new RegExp(`.{1,${BASE64_OF_A_LINE}}`, 'g'));
  const text = `/** \`sip.wat\`, compiled, in Base64. Written by sip-wasm.spec.ts. */
export const SIP_WASM =
${(lines ?? []).map((line) => `  '${line}'`).join(' +\n')};
`;
  await expect(text).toMatchFileSnapshot('./sip-wasm.ts');
});
