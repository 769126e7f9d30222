import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { renderPage } from '@/test/render';
import { LoadMore } from './LoadMore';

/** The browser's, for a page on which everything is in view. */
class AllInView {
  private readonly tell: IntersectionObserverCallback;
  constructor(tell: IntersectionObserverCallback) {
    this.tell = tell;
  }
  observe() {
    this.tell([{ isIntersecting: true } as IntersectionObserverEntry], this as unknown as IntersectionObserver);
  }
  disconnect() {}
}

afterEach(() => vi.unstubAllGlobals());

test('what comes into view is loaded; after a failure only a press asks again', async () => {
  vi.stubGlobal('IntersectionObserver', AllInView);
  const onLoad = vi.fn();
  const { unmount } = await renderPage(<LoadMore onLoad={onLoad} loading={false} error={null} />);
  expect(onLoad).toHaveBeenCalledOnce();
  unmount();
  onLoad.mockClear();
  await renderPage(<LoadMore onLoad={onLoad} loading={false} error={new Error('no')} />);
  expect(onLoad).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: 'Load more' }));
  expect(onLoad).toHaveBeenCalledOnce();
});
