import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { PagefleetError } from '@pagefleet/contract';
import type { Logger } from '../logger.ts';
import { type BusCredentials, readCredentials } from './read-credentials.ts';

interface LinkOptions {
  readonly url: string;
  readonly credentialsFile: string;
  readonly name: string;
  readonly logger: Logger;
}

interface LinkSubscription {
  readonly subject: string;
  readonly callback: (message: Msg) => void;
  live: Subscription | null;
}

/** Longest wait for any answer of NATS; also the promise that no call ever hangs. */
export const REQUEST_TIMEOUT_MS = 5_000;
const RETRY_MS = 250;

/**
 * The connection to NATS and its life: dials for ever, says whether it is up, carries subscriptions from one connection
 * to the next, and settles what waits for an answer the moment the connection goes.
 */
export class NatsLink {
  readonly #options: LinkOptions;
  readonly #stateListeners = new Set<(connected: boolean) => void>();
  readonly #subscriptions = new Set<LinkSubscription>();
  /** reject functions of the requests that wait now */
  readonly #pending = new Set<(error: Error) => void>();
  readonly #abort = new AbortController();
  #credentials: BusCredentials;
  #connection: NatsConnection | null = null;
  #up = false;
  #life: Promise<void> = Promise.resolve();

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#credentials = readCredentials(options.credentialsFile);
  }

  start(): void {
    this.#life = this.#live();
  }

  get up(): boolean {
    return this.#up;
  }

  get connection(): NatsConnection | null {
    return this.#up ? this.#connection : null;
  }

  onState(listener: (connected: boolean) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  subscribe(subject: string, callback: (message: Msg) => void): () => void {
    const entry: LinkSubscription = { subject, callback, live: null };
    this.#subscriptions.add(entry);
    if (this.#connection) this.#attach(entry, this.#connection);
    return () => {
      this.#subscriptions.delete(entry);
      if (entry.live && !entry.live.isClosed()) entry.live.unsubscribe();
    };
  }

  /** Runs a request on the present connection; rejects when there is none, when it goes, and after 5 s. */
  request<T>(run: (connection: NatsConnection) => Promise<T>): Promise<T> {
    const connection = this.connection;
    if (!connection) return Promise.reject(new PagefleetError('bus_unavailable', 'NATS is not connected.'));
    return new Promise<T>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        this.#pending.delete(fail);
      };
      const fail = (error: Error) => {
        settle();
        reject(error);
      };
      const timer = setTimeout(
        () => fail(new PagefleetError('bus_unavailable', `NATS did not answer in ${REQUEST_TIMEOUT_MS} ms.`)),
        REQUEST_TIMEOUT_MS,
      );
      this.#pending.add(fail);
      run(connection).then((value) => {
        settle();
        resolve(value);
      }, fail);
    });
  }

  async close(): Promise<void> {
    this.#abort.abort();
    const connection = this.#connection;
    // What was published just now still goes out, unless NATS is away.
    if (this.#up) await Promise.race([connection?.flush().catch(() => undefined), sleep(500)]);
    await connection?.close();
    await this.#life;
  }

  /** One round per connection. The client reconnects by itself; a round ends only when it gives the connection up. */
  async #live(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      const connection = await this.#dial();
      if (!connection) {
        await sleep(RETRY_MS, undefined, { signal: this.#abort.signal }).catch(() => undefined);
        continue;
      }
      if (this.#abort.signal.aborted) return connection.close();
      this.#connection = connection;
      for (const entry of this.#subscriptions) this.#attach(entry, connection);
      this.#setUp(true);
      await this.#follow(connection);
      this.#setUp(false);
      this.#connection = null;
      for (const entry of this.#subscriptions) entry.live = null;
    }
  }

  async #dial(): Promise<NatsConnection | null> {
    const { url, name, logger } = this.#options;
    try {
      return await connect({
        servers: url,
        name,
        authenticator: () => this.#login(),
        timeout: REQUEST_TIMEOUT_MS,
        pingInterval: 5_000,
        maxPingOut: 2,
        reconnect: true,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RETRY_MS,
        reconnectJitter: 100,
        ignoreAuthErrorAbort: true,
        ignoreClusterUpdates: true,
      });
    } catch (err) {
      logger.debug({ err }, 'bus_dial_failed');
      return null;
    }
  }

  /** Reads the file anew for each attempt: `pagefleet up` may have made new credentials meanwhile. */
  #login(): BusCredentials {
    try {
      this.#credentials = readCredentials(this.#options.credentialsFile);
    } catch (err) {
      this.#options.logger.warn({ err }, 'bus_credentials_unreadable');
    }
    return this.#credentials;
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect' || status.type === 'close') this.#setUp(false);
      else if (status.type === 'reconnect') this.#setUp(true);
      else if (status.type === 'error') this.#options.logger.warn({ err: status.error }, 'bus_error');
      if (status.type === 'close') return;
    }
  }

  #attach(entry: LinkSubscription, connection: NatsConnection): void {
    entry.live = connection.subscribe(entry.subject, {
      callback: (error, message) => {
        if (error) return this.#options.logger.warn({ err: error }, 'bus_subscription_error');
        entry.callback(message);
      },
    });
  }

  #setUp(up: boolean): void {
    if (this.#up === up) return;
    this.#up = up;
    this.#options.logger.info({ url: this.#options.url }, up ? 'bus_connected' : 'bus_disconnected');
    if (!up) {
      for (const fail of [...this.#pending])
        fail(new PagefleetError('bus_unavailable', 'The connection to NATS was lost.'));
    }
    for (const listener of this.#stateListeners) {
      try {
        listener(up);
      } catch (err) {
        this.#options.logger.error({ err }, 'bus_state_callback_failed');
      }
    }
  }
}
