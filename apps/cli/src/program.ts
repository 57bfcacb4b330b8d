import { SCOPES } from '@weir/control-plane/http/callers/scope';
import { readVersion } from '@weir/ops/version';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { pathToFileURL } from 'node:url';
import { type Context, UsageError } from './context.js';
import { ROOT } from './stack.js';

/**
 * All commands. What a command does is loaded when it runs: `--help` and completions are there at once.
 * @throws CommanderError when a command line is not valid, or only help was asked for; what it says has been printed.
 */
export function createProgram(context: Context): Command {
  const { terminal } = context;
  const program = new Command('weir')
    .description('The command line of Weir, the DNS filter.')
    // For groups of commands. The program has a `help` of its own below, which takes a path of several names.
    .helpCommand('help [command]', HELP_DESCRIPTION)
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printError(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'weir: ')),
      getOutHelpWidth: () => HELP_COLUMNS,
      getErrHelpWidth: () => HELP_COLUMNS,
    })
    .showHelpAfterError('weir COMMAND --help tells how')
    .version(
      readVersion(pathToFileURL(`${ROOT}package.json`), context.environment),
      '--version',
      'print the version',
    )
    .helpOption('--help', 'print this text')
    .addHelpText('after', NOTES);
  addQuestions(program, context);
  addOrders(program, context);
  addGrants(program, context);
  addInit(program, context);
  addCatalogue(program, context);
  addToken(program, context);
  addDatabase(program, context);
  program
    .command('help [command...]')
    .description(HELP_DESCRIPTION)
    .action((names: string[]) => {
      const found = names.reduce<Command | undefined>(
        (command, name) => command?.commands.find((one) => one.name() === name),
        program,
      );
      if (found === undefined) throw new UsageError(`there is no command "${names.join(' ')}"`);
      found.outputHelp();
    });
  program
    .command('completion')
    .description('print the completions for a shell: source <(weir completion bash)')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .action(async (shell: 'bash' | 'zsh') => {
      terminal.print((await import('./commands/completion.js')).completion(program, shell));
    });
  return program;
}

/** A handler for `action`. It loads the module of the command when the command runs. */
function lazily<M>(context: Context, load: () => Promise<M>) {
  return <A extends unknown[]>(choose: (module: M) => (context: Context, ...args: A) => unknown) =>
    async (...args: A): Promise<void> => {
      await choose(await load())(context, ...args);
    };
}

const HELP_COLUMNS = 120;
const HELP_DESCRIPTION = 'print this text, or that of a command';
const NOTES = `
Commands that ask a control plane take its URL and a token from WEIR_URL and WEIR_TOKEN. In the container of a control
plane, and where a local stack runs from this folder (npm start; DATA_DIR [.weir]), they know both. With NO_COLOR they
print no colours. \`weir COMMAND --help\` tells more about a command.

Exit status: 0 done, 1 failed, 2 the command line is not valid.`;

const IMAGE_NOTE =
  'a file of `build`, the version of one that the database has, or a folder with a catalogue.yaml, or its URL';
/** Of a record, as the API has them. */
const ID = integer(0, 2_147_483_647);
const JSON_OPTION = ['--json', 'print what the API said'] as const;
const PUBLIC_SUFFIX_OPTION = [
  '--public-suffix',
  'the domain may be one such as com: all domains below it are denied',
] as const;
const OWN_JSON_OPTION = ['--json', 'print JSON'] as const;

function addQuestions(program: Command, context: Context): void {
  program
    .command('explain')
    .description(
      'why is this name blocked for this client, since when, and what would turn it over',
    )
    .argument('[address[:port]]', 'of the client: 192.0.2.1, 192.0.2.1:4000, [2001:db8::1]:4000')
    .argument('[domain]')
    .option('--incident <number>', 'of a block page, in place of address, domain and time')
    .option('--type <type>', 'record type, such as AAAA or HTTPS [A]')
    .option('--at <time>', 'RFC 3339: by the schedule of that time [now]')
    .option(...JSON_OPTION)
    .action(lazily(context, () => import('./commands/explain.js'))((module) => module.explain));
  program
    .command('resolvers')
    .description('which resolvers there are, how far each is behind, and what it does')
    .option('--watch', 'again each second, until Ctrl-C')
    .option(...JSON_OPTION)
    .action(lazily(context, () => import('./commands/resolvers.js'))((module) => module.resolvers));
  program
    .command('changes')
    .description('who changed what: the newest changes, oldest first')
    .option('--follow', 'go on as they come, until Ctrl-C; with --json one object a line')
    .option('--after <revision>', 'those after this revision', integer(0, Number.MAX_SAFE_INTEGER))
    .option('--limit <count>', 'at most so many, up to 1000 [100]', integer(1, 1_000))
    .option('--profile <id>', 'what names this profile, and every POST /init/', ID)
    .option('--token <name>', 'by this token')
    .option(...JSON_OPTION)
    .action(lazily(context, () => import('./commands/changes.js'))((module) => module.changes));
  program
    .command('profile')
    .description('what is known of a profile')
    .argument('<id>', '', ID)
    .addArgument(new Argument('<what>', 'week: which profile is active when').choices(['week']))
    .option('--from <time>', 'RFC 3339 [now]')
    .option('--days <count>', 'at most 31 [7]', integer(1, 31))
    .option(...JSON_OPTION)
    .action(lazily(context, () => import('./commands/profile.js'))((module) => module.week));
  program
    .command('categories')
    .description('the categories that profiles can block')
    .option(...JSON_OPTION)
    .action(lazily(context, () => import('./commands/lists.js'))((module) => module.categories));
}

function addOrders(program: Command, context: Context): void {
  const run = lazily(context, () => import('./commands/orders.js'));
  const orders = program
    .command('orders')
    .description('domains that are denied to everybody by law');
  orders
    .command('list')
    .description('list the orders, and when each was in force on how many resolvers')
    .option('--search <text>', 'those that have it in their id, authority or reference')
    .addOption(
      new Option('--state <state>', 'those in force on all resolvers, ended, or neither').choices([
        'in_force',
        'pending',
        'ended',
      ]),
    )
    .option(...JSON_OPTION)
    .action(run((module) => module.listOrders));
  orders
    .command('add')
    .description('deny a domain, and all names below it, to everybody')
    .argument('<id>', 'a number that no order has yet', ID)
    .argument('<domain>')
    .requiredOption('--authority <text>', 'who has ordered it, as the block page shows it')
    .requiredOption('--reference <text>', 'how they refer to it, such as a file number')
    .option('--until <time>', 'RFC 3339: it ends by itself [no end]')
    .option(...PUBLIC_SUFFIX_OPTION)
    .option(...JSON_OPTION)
    .action(run((module) => module.addOrder));
  orders
    .command('change')
    .description(
      'change the given fields of an order; without options, only prove again that it is in force',
    )
    .argument('<id>', '', ID)
    .option('--domain <domain>', 'deny this one in place of the former')
    .option('--authority <text>', 'who has ordered it, as the block page shows it')
    .option('--reference <text>', 'how they refer to it, such as a file number')
    .option('--until <time>', 'RFC 3339: it ends by itself')
    .option('--no-until', 'it has no end')
    .option(...PUBLIC_SUFFIX_OPTION)
    .option(...JSON_OPTION)
    .action(run((module) => module.changeOrder));
  orders
    .command('end')
    .description(
      'end an order at once and delete it; one that `change --until` has ended stays in the list',
    )
    .argument('<id>', '', ID)
    .option(...JSON_OPTION)
    .action(run((module) => module.endOrder));
}

function addGrants(program: Command, context: Context): void {
  const run = lazily(context, () => import('./commands/profile.js'));
  const grants = program
    .command('grants')
    .description('what a profile is allowed or denied for a while');
  grants
    .command('list')
    .description('the grants of a profile that hold, by their end')
    .argument('<profile>', '', ID)
    .option(...JSON_OPTION)
    .action(run((module) => module.listGrants));
  grants
    .command('add')
    .description('allow or deny a domain, and all names below it, for minutes or until a time')
    .argument('<profile>', '', ID)
    .addArgument(new Argument('<verdict>').choices(['allow', 'deny']))
    .argument('<domain>')
    .option('--minutes <count>', 'at most 44640, which are 31 days', integer(1, 44_640))
    .option('--until <time>', 'RFC 3339')
    .option(...JSON_OPTION)
    .action(run((module) => module.addGrant));
  grants
    .command('delete')
    .description('end a grant at once')
    .argument('<profile>', '', ID)
    .argument('<id>', 'as `list` prints it', integer(0, Number.MAX_SAFE_INTEGER))
    .option(...JSON_OPTION)
    .action(run((module) => module.deleteGrant));
}

/** Reads an argument in decimal digits. It throws InvalidArgumentError. */
function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
  };
}

function addInit(program: Command, context: Context): void {
  program
    .command('init')
    .description('replace the whole configuration by a file: POST /init/')
    .argument('<file>', '- for standard input')
    .option('--dry-run', 'only say what would change')
    .option(...JSON_OPTION)
    .action(lazily(context, () => import('./commands/init.js'))((module) => module.init));
}

function addCatalogue(program: Command, context: Context): void {
  const run = lazily(context, () => import('./commands/catalogue.js'));
  const ask = lazily(context, () => import('./commands/lists.js'));
  const catalogue = program
    .command('catalogue')
    .description('the lists of names behind categories and applications');
  const definition = [
    '--catalogue <place>',
    'folder with a catalogue.yaml, or its URL [CATALOGUE]',
  ] as const;
  catalogue
    .command('sources')
    .description('print the catalogue in force, and how each of its lists does')
    .option(...JSON_OPTION)
    .action(ask((module) => module.sources));
  catalogue
    .command('search <domain>')
    .description('print which lists of the control plane hold a domain, with line and since when')
    .option(...JSON_OPTION)
    .action(ask((module) => module.search));
  catalogue
    .command('check')
    .description('read the definition and all its sources, and report what each one lists')
    .option(...definition)
    .action(run((module) => module.checkCatalogue));
  catalogue
    .command('show <domain>')
    .description('print the categories and applications of a domain, and the lines that list it')
    .option(...definition)
    .action(run((module) => module.showDomain));
  catalogue
    .command('sets')
    .description('print the sets of public lists that can be turned on, and which are on')
    .option(...definition)
    .option(...OWN_JSON_OPTION)
    .action(run((module) => module.printSets));
  catalogue
    .command('enable')
    .description('turn a set on: its line is added to `include` of catalogue.yaml')
    .argument('<set>', 'as `sets` names it')
    .option(...definition)
    .action(run((module) => module.enable));
  catalogue
    .command('disable')
    .description('turn a set off: its line is removed from `include` of catalogue.yaml')
    .argument('<set>', 'as `sets` names it')
    .option(...definition)
    .action(run((module) => module.disable));
  catalogue
    .command('build')
    .description('compile the image under DOMAIN_HASH_KEY')
    .argument('<file>', 'where to write it')
    .option(...definition)
    .action(run((module) => module.buildImage));
  catalogue
    .command('diff')
    .description('print which names categories and applications have gained and lost')
    .argument('<image>', IMAGE_NOTE)
    .argument('[newer]', 'the same; default: <image> is compared with the version in force')
    .option('--catalogue <place>', 'read its lists too, to tell names that only images have')
    .option(...OWN_JSON_OPTION)
    .action(run((module) => module.diffImages));
  catalogue
    .command('accept')
    .description('take a list that is held back because it is much shorter or longer than the last')
    .argument('<source>', 'as `sources` names it')
    .option(...JSON_OPTION)
    .action(ask((module) => module.acceptList));
}

function addToken(program: Command, context: Context): void {
  const run = lazily(context, () => import('./commands/token.js'));
  const token = program.command('token').description('tokens of the management API');
  token
    .command('show', { isDefault: true })
    .description(
      'print name, scope, sources and end of the token in use; weir token alone does so too',
    )
    .option(...JSON_OPTION)
    .action(run((module) => module.showToken));
  token
    .command('create <name>')
    .description('make a token and its entry for MANAGEMENT_TOKENS_FILE')
    .addArgument(new Argument('[scope]').choices(SCOPES).default('read'))
    .action(run((module) => module.createToken));
  token
    .command('check <file>')
    .description('check a file for MANAGEMENT_TOKENS_FILE')
    .action(run((module) => module.checkTokens));
}

function addDatabase(program: Command, context: Context): void {
  const run = lazily(context, () => import('./commands/database.js'));
  program
    .command('backup <file>')
    .description('write the contents of the database into one file')
    .addHelpText('after', BACKUP_NOTES)
    .action(run((module) => module.backup));
  program
    .command('restore <file>')
    .description('replace the contents of the database by a backup')
    .option('--replace', 'overwrite a configuration; by default only an empty database is accepted')
    .addHelpText('after', RESTORE_NOTES)
    .action(run((module) => module.restore));
  program
    .command('repair')
    .description('mend what the database says about itself')
    .command('digest')
    .description('put a digest in force that fits the rows, if somebody changed tables directly')
    .option('--check', 'change nothing; exit status 1 if the digest does not fit')
    .addHelpText('after', REPAIR_NOTES)
    .action(run((module) => module.repair));
}

const DATABASE_NOTE = `The database is that of DATABASE_URL. If it is unset, it is that of the local stack (npm start), which may be
running or not; DATA_DIR [.weir] is the folder of the stack.`;
const BACKUP_NOTES = `
${DATABASE_NOTE} Everything may keep running. Only the owner may
read the file. It appears only when it is complete. It does not contain DOMAIN_HASH_KEY: keep the key elsewhere,
because without it the domain rules match nothing. The local stack has the key in secrets.json in DATA_DIR.`;
const RESTORE_NOTES = `
${DATABASE_NOTE} Everything may keep running: changes wait for a
moment, and resolvers and block pages load the restored configuration by themselves. A backup of a newer release is
refused. If it fails, the configuration is unchanged.`;
const REPAIR_NOTES = `
A change with a revision of its own puts the digest in force, and every resolver and block page loads the whole
configuration. The rows stay as they are. Changes wait meanwhile, about a second for 100,000 rows. The database is
that of DATABASE_URL, or of the local stack that runs from this folder.`;
