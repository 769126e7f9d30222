import { describe, expect, test } from 'vitest';
import { type LogFrame, LogStore } from './logStore';

const bytes = (text: string) => new TextEncoder().encode(text).length;
const frame = (byteOff: number, text: string, fd: 1 | 2 = 1): LogFrame => ({
  fd,
  byteOff,
  next: byteOff + bytes(text),
  timeMs: 1000,
  text,
});
const lines = (store: LogStore) => Array.from({ length: store.total }, (_, index) => store.line(index).plain);

describe('frames become lines', () => {
  test('a line may come in pieces', () => {
    const store = new LogStore();
    store.append(frame(0, 'epoch 1\nepo'));
    expect(lines(store)).toEqual(['epoch 1', 'epo']);
    store.append(frame(11, 'ch 2\n'));
    expect(lines(store)).toEqual(['epoch 1', 'epoch 2']);
  });

  test('stdout and stderr may interleave within a line', () => {
    const store = new LogStore();
    store.append(frame(0, 'abc'));
    store.append(frame(3, 'warning\n', 2));
    store.append(frame(11, 'def\n'));
    expect(lines(store)).toEqual(['warning', 'abcdef']);
    expect(store.line(0).fd).toBe(2);
  });

  test('a redrawn progress bar shows its last state', () => {
    const store = new LogStore();
    store.append(frame(0, '10%\r20%\r30%\ndone\r\n'));
    expect(lines(store)).toEqual(['30%', 'done']);
  });
});

describe('offsets', () => {
  test('a frame that came before is stored once', () => {
    const store = new LogStore();
    expect(store.append(frame(0, 'one\ntwo\n'))).toBe(true);
    expect(store.append(frame(0, 'one\ntwo\n'))).toBe(true);
    expect(lines(store)).toEqual(['one', 'two']);
  });

  test('an overlap is read again from where it stopped: its text is not its bytes', () => {
    const store = new LogStore();
    // Two bytes that are no UTF-8: six bytes as text.
    store.append({ ...frame(0, '\ufffd\ufffd'), next: 2 });
    expect(store.append({ ...frame(0, '\ufffd\ufffd完\n'), next: 6 })).toBe(false);
    expect(store.next).toBe(2);
    expect(store.append(frame(2, '完\n'))).toBe(true);
    expect(lines(store)).toEqual(['\ufffd\ufffd完']);
  });

  test('a hole is refused and nothing is stored', () => {
    const store = new LogStore();
    store.append(frame(0, 'one\n'));
    expect(store.append(frame(9, 'late\n'))).toBe(false);
    expect(lines(store)).toEqual(['one']);
    expect(store.next).toBe(4);
  });
});

describe('colours', () => {
  test('are kept beside the plain text', () => {
    const store = new LogStore();
    store.append(frame(0, 'a \x1b[31mred\x1b[0m end\n'));
    expect(store.line(0).plain).toBe('a red end');
    expect(store.line(0).escapes).toEqual([
      { at: 2, code: '\x1b[31m' },
      { at: 5, code: '\x1b[0m' },
    ]);
  });

  test('cursor moves and window titles are dropped', () => {
    const store = new LogStore();
    store.append(frame(0, '\x1b]0;title\x07\x1b[2Kshown\n'));
    expect(store.line(0)).toMatchObject({ plain: 'shown', escapes: [] });
  });

  test('do not hide a word from the search', () => {
    const store = new LogStore();
    store.append(frame(0, 'first\nER\x1b[1mROR\x1b[0m here\n'));
    expect(store.search('ERROR')).toEqual([1]);
  });
});

describe('search and filter', () => {
  const store = new LogStore();
  store.append(frame(0, 'Loss 1\n'));
  store.append(frame(7, 'warn loss\n', 2));
  store.append(frame(17, 'loss 2\nunfinished loss', 1));

  test('case counts only if it is asked to', () => {
    expect(store.search('LOSS')).toEqual([0, 1, 2, 3]);
    expect(store.search('Loss', 'all', true)).toEqual([0]);
  });

  test('what is looked for is no expression', () => {
    const odd = new LogStore();
    odd.append(frame(0, 'a.b\nacb\n(x) [y] {z} ^$ 1+1=2? a|b \\d /*\nepoch 7/10\n'));
    expect(odd.search('A.B')).toEqual([0]);
    expect(odd.search('(X) [y] {Z} ^$ 1+1=2? A|b \\D /*')).toEqual([2]);
    expect(odd.search('7/10')).toEqual([3]);
  });

  test('letters that are longer in lower case move no match to another line', () => {
    const turkish = new LogStore();
    turkish.append(frame(0, `${'İ'.repeat(40)}\nÄrger\n损失 Loss\n`));
    expect(turkish.search('loss')).toEqual([2]);
    expect(turkish.search('äRGER')).toEqual([1]);
  });

  test('lines that come between two searches are found with those before', () => {
    const growing = new LogStore();
    growing.append(frame(0, 'loss 1\nnothing\n'));
    expect(growing.search('loss')).toEqual([0]);
    growing.append(frame(15, 'more\nloss 2\n'));
    expect(growing.search('loss')).toEqual([0, 3]);
    expect(growing.line(1).plain).toBe('nothing');
  });

  test('a filter maps rows to lines and back', () => {
    expect(store.count('stderr')).toBe(1);
    expect(store.lineAt(0, 'stderr')).toBe(1);
    expect(store.count('stdout')).toBe(3);
    expect([0, 1, 2].map((row) => store.lineAt(row, 'stdout'))).toEqual([0, 2, 3]);
    expect(store.rowOf(2, 'stdout')).toBe(1);
    expect(store.search('loss', 'stderr')).toEqual([1]);
  });
});

test('a hundred thousand lines across blocks keep their numbers', () => {
  const store = new LogStore();
  let offset = 0;
  for (let start = 0; start < 100_000; start += 1000) {
    const text = `${Array.from({ length: 1000 }, (_, k) => `step ${start + k}`).join('\n')}\n`;
    store.append(frame(offset, text));
    offset += bytes(text);
  }
  expect(store.total).toBe(100_000);
  expect(store.line(73_211).plain).toBe('step 73211');
  expect(store.search('step 99999')).toEqual([99_999]);
});
