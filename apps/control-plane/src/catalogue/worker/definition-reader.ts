import {
  type Definition,
  type DigestedDefinition,
  isSameDefinition,
  readWithDigests,
} from '@weir/catalogue';
import { type DefinitionTask, runInThread } from './worker-thread.js';

/** Reads a definition again and again, and parses it only when one of its files has changed. */
export class DefinitionReader {
  private last: DigestedDefinition | null = null;

  constructor(private readonly task: DefinitionTask) {}

  /**
   * Reads the definition in a folder, in this thread. A URL is not requested: it may be unreachable for a while.
   * @throws CatalogueError, one line, when it cannot be used.
   */
  async start(): Promise<void> {
    const { location, sets } = this.task;
    if (!/^https?:\/\//i.test(location)) this.last = await readWithDigests(location, sets);
  }

  /** @throws CatalogueError, one line, when it cannot be used. */
  async read(signal: AbortSignal): Promise<Definition> {
    const { last, task } = this;
    if (last !== null && (await isSameDefinition(task.location, last.digests, signal))) {
      return last.definition;
    }
    this.last = await runInThread('definition', task, signal);
    return this.last.definition;
  }
}
