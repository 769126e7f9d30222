import { connection } from './connection';

/** A WebSocket that comes back by itself and asks for what it missed. No React: see `useLive`. */
export type LiveStatus = 'connecting' | 'live' | 'reconnecting' | 'paused' | 'closed';

export interface LiveOptions<Message> {
  /** Asked at every (re)connection, so that it carries the offset to resume from. */
  url: () => string;
  /** One call per animation frame with everything that came since: a fast log must not flood React. */
  onMessages: (batch: Message[]) => void;
  onStatus: (status: LiveStatus) => void;
  createSocket?: (url: string) => WebSocket;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;
/** Refused for good: no session, no permission, no such thing. 1000: the server has said everything. */
const FINAL_CODES = new Set([1000, 4400, 4401, 4403, 4404]);
const HIDDEN_FLUSH_MS = 250;

export class LiveSocket<Message> {
  private readonly options: LiveOptions<Message>;
  private socket: WebSocket | null = null;
  private batch: Message[] = [];
  private flushScheduled = false;
  private failures = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;
  private stopWaiting = () => {};

  constructor(options: LiveOptions<Message>) {
    this.options = options;
  }

  start(): void {
    this.stopped = false;
    window.addEventListener('online', this.reconnectNow);
    this.stopWaiting = connection.subscribe(() => {
      if (connection.current().kind === 'online') this.reconnectNow();
    });
    this.connect();
  }

  /** Closes until `start` is called again. */
  stop(status: LiveStatus = 'closed'): void {
    this.stopped = true;
    window.removeEventListener('online', this.reconnectNow);
    this.stopWaiting();
    clearTimeout(this.retryTimer);
    this.dropSocket();
    this.flush();
    this.options.onStatus(status);
  }

  send(message: object): boolean {
    if (this.socket?.readyState !== 1) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private connect(): void {
    this.options.onStatus(this.failures > 0 ? 'reconnecting' : 'connecting');
    const create = this.options.createSocket ?? ((url: string) => new WebSocket(url));
    const socket = create(this.options.url());
    this.socket = socket;
    socket.onopen = () => {
      this.options.onStatus('live');
    };
    socket.onmessage = (event) => this.receive(String(event.data));
    socket.onclose = (event) => {
      if (this.socket === socket) this.lost(event.code);
    };
  }

  private receive(data: string): void {
    this.failures = 0; // Only a message proves that the connection works.
    this.batch.push(JSON.parse(data) as Message);
    if (this.flushScheduled) return;
    this.flushScheduled = true;
    // A hidden tab gets no animation frames.
    if (document.hidden) setTimeout(this.flush, HIDDEN_FLUSH_MS);
    else requestAnimationFrame(this.flush);
  }

  private readonly flush = (): void => {
    this.flushScheduled = false;
    if (this.batch.length === 0) return;
    const batch = this.batch;
    this.batch = [];
    this.options.onMessages(batch);
  };

  private lost(code: number): void {
    this.flush(); // The offset to resume from must count what has arrived.
    this.socket = null;
    if (this.stopped) return;
    if (FINAL_CODES.has(code)) {
      this.stop('closed');
      return;
    }
    this.failures += 1;
    connection.missed();
    this.options.onStatus('reconnecting');
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.failures - 1));
    // Jitter: a restarted server must not meet every browser at once.
    this.retryTimer = setTimeout(() => this.connect(), delayMs * (0.5 + Math.random() / 2));
  }

  private readonly reconnectNow = (): void => {
    if (this.stopped || this.socket) return;
    clearTimeout(this.retryTimer);
    this.connect();
  };

  private dropSocket(): void {
    const socket = this.socket;
    this.socket = null;
    if (!socket) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }
}
