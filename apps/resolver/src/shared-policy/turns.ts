import { SubscriberKey } from '@weir/clients';
import type { Response } from '@weir/dns-wire';
import type { Client } from '@weir/policy';
import type { QueryPath } from '../query-path/query-path.js';
import type { Exchange, QueryHandler } from '../query/exchange.js';
import type { Question } from '../query/question.js';
import type { ForwardEvents } from '../upstream/forwarder.js';
import type { ReadPolicy } from './read-policy.js';

/** A query path each of whose queries, and each of whose responses, has a turn: it sees one revision of the policy. */
export class PathInTurns implements QueryHandler, ForwardEvents {
  constructor(
    private readonly path: QueryPath,
    private readonly policy: ReadPolicy,
  ) {}

  handle(exchange: Exchange): void {
    const { path, policy } = this;
    policy.enter();
    try {
      path.handle(exchange);
    } finally {
      policy.leave();
    }
  }

  refresh(exchange: Exchange): void {
    const { path, policy } = this;
    policy.enter();
    try {
      path.refresh(exchange);
    } finally {
      policy.leave();
    }
  }

  onResponse(exchange: Exchange, response: Response): void {
    const { path, policy } = this;
    policy.enter();
    try {
      path.onResponse(exchange, response);
    } finally {
      policy.leave();
    }
  }

  // These do not read the policy.

  onCompleted(question: Question, response: Response): void {
    this.path.onCompleted(question, response);
  }

  hasStale(question: Question): boolean {
    return this.path.hasStale(question);
  }

  onDefect(error: unknown): void {
    this.path.onDefect(error);
  }
}

/** Identifies subscribers outside of the query path too. */
export class SubscriberKeyInTurns extends SubscriberKey {
  constructor(
    private readonly policy: ReadPolicy,
    salt: number,
  ) {
    super(policy, salt);
  }

  override identify(client: Client): void {
    const { policy } = this;
    policy.enter();
    try {
      super.identify(client);
    } finally {
      policy.leave();
    }
  }
}
