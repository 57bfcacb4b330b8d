import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Container, inspectContainer } from './docker.js';
import { type Outcome, outcomeOf, run } from './run.js';

const repository = fileURLToPath(new URL('../../../..', import.meta.url));

/** Address of the tests' upstream name server, in the network of docker-compose.yml. */
export const UPSTREAM = '172.30.53.200';
/** Its answer to every query. */
export const UPSTREAM_ANSWER = '198.51.100.80';

/** The same files make the same commit, so that the engine builds nothing twice. */
const COMMIT_DATE = '2026-01-01T00:00:00Z';

export interface ApiAnswer {
  readonly status: number;
  /** Value of the header `X-Config-Applied`. */
  readonly applied: string | null;
}

/** Where the clone of a deployment says it comes from, except for the credentials. */
export const SOURCE = 'https://git.example.org/weir.git';

/** A deployment with docker-compose.yml in a clone that has what is not committed here yet. */
export class Deployment {
  private readonly files = ['docker-compose.yml', 'compose/src/images/upstream.yml'];

  private constructor(
    readonly folder: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @param environment selects the engine for `docker`; its variables override `.env`. */
  static async create(environment: NodeJS.ProcessEnv): Promise<Deployment> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-compose-'));
    const script = `git ls-files -z --cached --others --exclude-standard |
      tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$1"
      cd "$1" && git init --quiet --initial-branch=main && git remote add origin "$2" && git add --all
      git -c user.name=test -c user.email=test@example.org commit --quiet --message=test`;
    const remote = SOURCE.replace('//', '//name:password@');
    const dates = { GIT_AUTHOR_DATE: COMMIT_DATE, GIT_COMMITTER_DATE: COMMIT_DATE };
    const env = { ...process.env, ...dates };
    await run('sh', ['-ec', script, 'sh', folder, remote], { cwd: repository, env });
    return new Deployment(folder, environment);
  }

  /** Adds a file to those that Compose reads. */
  addFile(name: string): void {
    this.files.push(name);
  }

  /** Makes `.env` as docs/operations/install-compose.md describes, and adds settings. */
  async makeEnv(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    await run('sh', ['compose/make-env.sh'], { cwd: this.folder });
    const lines = Object.entries({ UPSTREAMS: UPSTREAM, ...settings });
    const text = lines.map(([name, value]) => `${name}=${value}\n`).join('');
    appendFileSync(join(this.folder, '.env'), text);
  }

  /** The text of `.env`. */
  env(): string {
    return readFileSync(join(this.folder, '.env'), 'utf8');
  }

  /** Calls the management API with the token of `.env`. */
  async call(method: string, path: string, body: unknown): Promise<ApiAnswer> {
    const [, token] = /^MANAGEMENT_TOKENS=(\w+)$/m.exec(this.env()) ?? [];
    const response = await fetch(`http://127.0.0.1:8080${path}`, {
      method,
      headers: { Authorization: `Bearer ${token ?? ''}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, applied: response.headers.get('x-config-applied') };
  }

  compose(...args: string[]): Promise<string> {
    return run('docker', ['compose', ...args], this.where());
  }

  tryCompose(...args: string[]): Promise<Outcome> {
    return outcomeOf('docker', ['compose', ...args], this.where());
  }

  /** Id of a service's container, running or not. */
  async idOf(service: string): Promise<string> {
    const [id = ''] = (await this.compose('ps', '--all', '--quiet', service)).split('\n');
    return id;
  }

  async inspect(service: string): Promise<Container> {
    return inspectContainer(await this.idOf(service));
  }

  /** Runs a bash script in the folder. @throws Error when a command fails. */
  shell(script: string): Promise<string> {
    return run('bash', ['-euo', 'pipefail', '-c', script], this.where());
  }

  async remove(): Promise<void> {
    await this.tryCompose('--profile', '*', 'down', '--volumes', '--timeout', '1');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private where(): { cwd: string; env: NodeJS.ProcessEnv } {
    return { cwd: this.folder, env: { ...this.environment, COMPOSE_FILE: this.files.join(':') } };
  }
}
