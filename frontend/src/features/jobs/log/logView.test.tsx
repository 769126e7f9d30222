import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { renderPage } from '@/test/render';
import { NOTHING } from './highlight';
import { LogView } from './LogView';
import { LogStore } from './logStore';

test('a finger that looks for what was before leaves the end of a live log; at the end it follows again', async () => {
  const store = new LogStore();
  store.append({ fd: 1, byteOff: 0, next: 8, timeMs: 0, text: 'one\ntwo\n' });
  const onFollow = vi.fn();
  await renderPage(
    <LogView
      store={store}
      revision={1}
      filter="all"
      highlightOf={() => NOTHING}
      follow
      onFollow={onFollow}
      showTimes={false}
      target={null}
      marked={null}
      onMark={() => {}}
      emptyText=""
    />,
  );
  // On a line: that is where fingers are.
  const line = await screen.findByText('two');
  const swipe = (from: number, to: number) => {
    fireEvent.touchStart(line, { touches: [{ clientY: from }] });
    fireEvent.touchMove(line, { touches: [{ clientY: to }] });
  };
  swipe(100, 101);
  expect(onFollow).not.toHaveBeenCalled();
  swipe(100, 160);
  expect(onFollow).toHaveBeenLastCalledWith(false);
  swipe(160, 100);
  expect(onFollow).toHaveBeenLastCalledWith(true);
});
