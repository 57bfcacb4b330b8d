import { type Outcome, outcomeOf, run } from './run.js';

/** Skips duplicate address detection of IPv6, so that the address can be used at once. */
const NO_DUPLICATES = (address: string) => (address.includes(':') ? ['nodad'] : []);

/** Another machine than the one that runs Weir: a network namespace with one virtual cable (veth) to it. */
export class Subscriber {
  private constructor(
    private readonly name: string,
    readonly address: string,
  ) {}

  /** @param machine address with prefix length for this machine's end of the cable, in the subscriber's network. */
  static async connect(name: string, address: string, machine: string): Promise<Subscriber> {
    const script = `
      ip netns add ${name}
      ip link add ${name} type veth peer name cable netns ${name}
      ip address add ${machine} dev ${name} && ip link set ${name} up
      ip -n ${name} address add ${address}/${machine.split('/')[1]} dev cable
      ip -n ${name} link set lo up && ip -n ${name} link set cable up
      ip -n ${name} route add default via ${machine.split('/')[0]}`;
    await run('sh', ['-ec', script]);
    return new Subscriber(name, address);
  }

  /** Adds another address to this machine's end of the cable. */
  async addMachineAddress(address: string): Promise<void> {
    const length = address.includes(':') ? 128 : 32;
    await run('ip', [
      'address',
      'add',
      `${address}/${length}`,
      'dev',
      this.name,
      ...NO_DUPLICATES(address),
    ]);
  }

  /** Adds addresses of the other family to both ends. @param machine with its prefix length. */
  async addSecondFamily(address: string, machine: string): Promise<void> {
    const own = `${address}/${machine.split('/')[1]}`;
    await run('ip', ['address', 'add', machine, 'dev', this.name, 'nodad']);
    await run('ip', ['-n', this.name, 'address', 'add', own, 'dev', 'cable', 'nodad']);
  }

  run(command: string, ...args: string[]): Promise<string> {
    return run('ip', ['netns', 'exec', this.name, command, ...args]);
  }

  tryRun(command: string, ...args: string[]): Promise<Outcome> {
    return outcomeOf('ip', ['netns', 'exec', this.name, command, ...args]);
  }

  /** The output of `dig +short`. */
  dig(server: string, ...args: string[]): Promise<string> {
    return this.run('dig', `@${server}`, '+short', '+tries=1', ...args);
  }

  async disconnect(): Promise<void> {
    await run('ip', ['netns', 'delete', this.name]);
  }
}
