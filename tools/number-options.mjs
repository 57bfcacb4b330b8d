import { parseArgs } from 'node:util';

/**
 * Reads `--name number` arguments. `--help` prints the help and exits; so does a bad argument, with an error.
 *
 * @param {string} help
 * @param {Readonly<Record<string, string | undefined>>} defaults of all options
 * @returns {Record<string, string | undefined>}
 */
export function numberOptions(help, defaults) {
  const names = Object.keys(defaults);
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  try {
    const { values } = parseArgs({
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    });
    const { help: isHelp, ...given } = values;
    if (isHelp) {
      process.stdout.write(`${help}\n`);
      process.exit();
    }
    for (const [name, value] of Object.entries(given))
      if (!/^\d+$/.test(value)) throw new TypeError(`--${name} must be a whole number`);
    return { ...defaults, ...given };
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${help}\n`);
    process.exit(1);
  }
}
