import { useReducer } from 'react';
import { NOTHING } from '@/features/jobs/log/highlight';
import { LogView } from '@/features/jobs/log/LogView';
import { LogStore } from '@/features/jobs/log/logStore';
import { Frames, restMs, untilDrawn } from './frames';

const LINES = 1_000_000;
const FRAME_LINES = 1000;
const FOLLOW_PER_S = 500;
const FOLLOW_MS = 4000;
const PATIENCE = 50;
const SEARCHES = ['step 0999999', 'loss 0.123456', 'nowhere'];

const store = new LogStore();
let redraw = () => {};

export function Log() {
  const [revision, draw] = useReducer((tick: number) => tick + 1, 0);
  redraw = draw;
  return (
    <LogView
      store={store}
      revision={revision}
      filter="all"
      highlightOf={() => NOTHING}
      follow
      onFollow={() => {}}
      showTimes={false}
      target={null}
      marked={null}
      onMark={() => {}}
      emptyText="empty"
    />
  );
}

const lineOf = (n: number) =>
  `epoch 1/10 step ${String(n).padStart(7, '0')} loss 0.${123456 + (n % 9)} accuracy 0.987654 images/s 12345.6\n`;

function append(text: string): void {
  const byteOff = store.next;
  store.append({ fd: 1, byteOff, next: byteOff + text.length, timeMs: 0, text });
}

const shows = (words: string) => document.querySelector('[role=log]')?.textContent?.includes(words) ?? false;

export const log = {
  lines: LINES,
  /** Milliseconds from the frames of a whole log to its last line on the screen. */
  async load(): Promise<number> {
    const texts = Array.from({ length: LINES / FRAME_LINES }, (_, block) =>
      Array.from({ length: FRAME_LINES }, (_, line) => lineOf(block * FRAME_LINES + line)).join(''),
    );
    return untilDrawn(
      () => {
        for (const text of texts) append(text);
        redraw();
      },
      () => shows(`step ${String(LINES - 1).padStart(7, '0')}`),
    );
  },
  search(): number[] {
    return SEARCHES.map((query) => {
      const started = performance.now();
      store.search(query);
      return performance.now() - started;
    });
  },
  /** Gaps between frames while lines come and the view follows them; empty if it lost them. */
  async follow(): Promise<number[]> {
    let n = LINES;
    const started = performance.now();
    const frames = new Frames(() => {
      const due = LINES + Math.floor(((performance.now() - started) / 1000) * FOLLOW_PER_S);
      let text = '';
      while (n < due) text += lineOf(n++);
      if (text) append(text);
      redraw();
    });
    await restMs(FOLLOW_MS);
    const gaps = frames.stop();
    const isThere = () => shows(`step ${String(n - 1).padStart(7, '0')}`);
    for (let waited = 0; waited < PATIENCE && !isThere(); waited += 1) await restMs(100);
    return isThere() ? gaps : [];
  },
};
