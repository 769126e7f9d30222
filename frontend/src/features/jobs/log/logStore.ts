import { afterLastRedraw, type Escape, splitAnsi } from './ansi';
import { BLOCK_LINES, type Fd, type Finder, finderOf, LineBlock } from './lineBlock';

export interface LogFrame {
  fd: Fd;
  /** Offset of the frame's first byte in the attempt's log. */
  byteOff: number;
  /** Offset of the byte after the frame. */
  next: number;
  timeMs: number;
  text: string;
}

export interface LogLine {
  plain: string;
  escapes: Escape[];
  fd: Fd;
  timeMs: number;
}

export type LogFilter = 'all' | 'stdout' | 'stderr';

/**
 * The log of one attempt, append-only, ordered by byte offset. Frames may come twice, but not with a hole, and not with
 * a beginning that is stored already: then `append` stores nothing, and the caller fetches from `next` on. A frame cannot
 * be cut here, since its text is not its bytes: some are no UTF-8, and a character may begin in the frame before.
 * Framework-free.
 */
export class LogStore {
  /** Offset of the first byte that is not stored. */
  next = 0;
  private blocks: LineBlock[] = [new LineBlock(0)];
  private closedCount = 0;
  /** Text of a line that has no newline yet, per file descriptor: stdout and stderr interleave mid-line. */
  private open = new Map<Fd, { text: string; timeMs: number }>();
  private byFd: Record<Fd, number[]> = { 1: [], 2: [] };

  /** Number of lines, counting unfinished ones. */
  get total(): number {
    return this.closedCount + this.open.size;
  }

  /** Returns false when the frame does not follow what is stored. */
  append(frame: LogFrame): boolean {
    if (frame.next <= this.next) return true;
    if (frame.byteOff !== this.next) return false;
    this.appendText(frame);
    this.next = frame.next;
    return true;
  }

  private appendText({ text, fd, timeMs }: LogFrame): void {
    let from = 0;
    let newline = text.indexOf('\n');
    const begun = this.open.get(fd);
    if (begun && newline !== -1) {
      this.close(begun.text + text.slice(0, newline), fd, begun.timeMs);
      this.open.delete(fd);
      from = newline + 1;
      newline = text.indexOf('\n', from);
    }
    while (newline !== -1) {
      this.close(text.slice(from, newline), fd, timeMs);
      from = newline + 1;
      newline = text.indexOf('\n', from);
    }
    if (from < text.length) this.extendOpen(text.slice(from), fd, timeMs);
  }

  private extendOpen(text: string, fd: Fd, timeMs: number): void {
    const begun = this.open.get(fd);
    this.open.set(fd, { text: afterLastRedraw((begun?.text ?? '') + text), timeMs: begun?.timeMs ?? timeMs });
  }

  private close(line: string, fd: Fd, timeMs: number): void {
    let block = this.blocks[this.blocks.length - 1] as LineBlock;
    if (block.count >= BLOCK_LINES) {
      block.seal();
      block = new LineBlock(this.closedCount);
      this.blocks.push(block);
    }
    block.push(splitAnsi(afterLastRedraw(line)), fd, timeMs);
    this.byFd[fd].push(this.closedCount);
    this.closedCount++;
  }

  /** The line with number `index` (from 0). */
  line(index: number): LogLine {
    if (index < this.closedCount) {
      const block = this.blocks[Math.floor(index / BLOCK_LINES)] as LineBlock;
      return block.line(index - block.firstLine);
    }
    const [fd, begun] = [...this.open][index - this.closedCount] ?? [1 as Fd, { text: '', timeMs: 0 }];
    return { ...splitAnsi(begun.text), fd, timeMs: begun.timeMs };
  }

  private openOf(fd: Fd): number[] {
    return [...this.open.keys()].flatMap((key, index) => (key === fd ? [this.closedCount + index] : []));
  }

  /** Number of rows under a filter. */
  count(filter: LogFilter): number {
    if (filter === 'all') return this.total;
    const fd = filter === 'stdout' ? 1 : 2;
    return this.byFd[fd].length + this.openOf(fd).length;
  }

  /** Line number of row `row` under a filter. */
  lineAt(row: number, filter: LogFilter): number {
    if (filter === 'all') return row;
    const fd = filter === 'stdout' ? 1 : 2;
    const closed = this.byFd[fd];
    return closed[row] ?? this.openOf(fd)[row - closed.length] ?? this.total - 1;
  }

  /** Row of a line under a filter: the first row at or after it. */
  rowOf(line: number, filter: LogFilter): number {
    if (filter === 'all') return line;
    const lines = this.byFd[filter === 'stdout' ? 1 : 2];
    let low = 0;
    let high = lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((lines[middle] as number) < line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Numbers of the lines that contain `query`, colours ignored. */
  search(query: string, filter: LogFilter = 'all', matchCase = false, max = 100_000): number[] {
    const found: number[] = [];
    if (query === '') return found;
    const next = finderOf(query, matchCase);
    for (const block of this.blocks) {
      if (found.length >= max) break;
      block.find(next, found, max);
    }
    this.searchOpen(next, found);
    return filter === 'all' ? found : found.filter((line) => this.fdOf(line) === (filter === 'stdout' ? 1 : 2));
  }

  private searchOpen(next: Finder, into: number[]): void {
    for (let line = this.closedCount; line < this.total; line++)
      if (next(this.line(line).plain, 0) !== -1) into.push(line);
  }

  private fdOf(line: number): Fd {
    if (line >= this.closedCount) return this.line(line).fd;
    const block = this.blocks[Math.floor(line / BLOCK_LINES)] as LineBlock;
    return block.fdOf(line - block.firstLine);
  }
}
