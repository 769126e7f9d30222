import { MantineProvider } from '@mantine/core';
import { fireEvent, render, screen } from '@testing-library/react';
import { createRef } from 'react';
import { describe, expect, it, vi } from 'vitest';
import '../words';
import { CanvasView } from './CanvasView';
import type { CanvasController } from './controller';
import type { DocumentV2 } from './model';
import { ONTOLOGY, object } from './testing';

const DOCUMENT: DocumentV2 = {
  version: 2,
  width: 100,
  height: 100,
  objects: [object('a', { kind: 'box', box: [1, 2, 3, 4] })],
};

function view(document: DocumentV2, more: Partial<Parameters<typeof CanvasView>[0]> = {}) {
  return (
    <MantineProvider>
      <CanvasView document={document} ontology={ONTOLOGY} image={null} activeLabel={1} activeTool="select" {...more} />
    </MantineProvider>
  );
}

describe('CanvasView', () => {
  it('has a name and the keyboard, and tells of changes', () => {
    const onChange = vi.fn();
    const onSelect = vi.fn();
    render(view(DOCUMENT, { onChange, onSelect }));
    const canvas = screen.getByRole('application', { name: /Canvas/ });
    fireEvent.keyDown(canvas, { key: 'Tab' });
    expect(onSelect).toHaveBeenLastCalledWith(['a']);
    expect(screen.getByText('car, 1 of 1')).toBeInstanceOf(HTMLElement);
    fireEvent.keyDown(canvas, { key: 'ArrowRight' });
    expect(onChange).toHaveBeenCalledWith({ ...DOCUMENT, objects: [object('a', { kind: 'box', box: [2, 2, 3, 4] })] }, [
      { op: 'replace', path: '/objects/0/box/0', value: 2 },
    ]);
  });

  it('keeps its history when its own documents come back, and begins anew with another', () => {
    const handle = createRef<CanvasController>();
    const seen: DocumentV2[] = [];
    const more = { handle, onChange: (document: DocumentV2) => seen.push(document) };
    const { rerender } = render(view(DOCUMENT, more));
    handle.current?.dispatch({ type: 'delete', ids: ['a'] });
    rerender(view(seen[0] as DocumentV2, more));
    expect(handle.current?.session.editor.past).toHaveLength(1);
    handle.current?.dispatch({ type: 'undo' });
    expect(seen.at(-1)).toEqual(DOCUMENT);
    rerender(view({ version: 2, width: 50, height: 50 }, more));
    expect(handle.current?.session.editor).toMatchObject({ past: [], document: { width: 50 } });
  });

  it('goes on to show the whole picture in another size, and stays where somebody looks', () => {
    let size = { width: 400, height: 300 };
    let resized = () => {};
    class Observer {
      constructor(call: () => void) {
        resized = call;
      }
      observe() {}
      disconnect() {}
    }
    vi.stubGlobal('ResizeObserver', Observer);
    const rect = vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect');
    rect.mockImplementation(() => new DOMRect(0, 0, size.width, size.height));
    const handle = createRef<CanvasController>();
    render(view(DOCUMENT, { handle }));
    const resizeTo = (width: number, height: number) => {
      size = { width, height };
      resized();
      return handle.current?.session.view.scale;
    };
    expect(resizeTo(400, 300)).toBe((300 - 32) / 100);
    expect(resizeTo(182, 300)).toBe((182 - 32) / 100);
    handle.current?.session.zoom(2);
    expect(resizeTo(400, 300)).toBe(3);
    rect.mockRestore();
    vi.unstubAllGlobals();
  });

  it('goes on with an earlier history', () => {
    const handle = createRef<CanvasController>();
    const { unmount } = render(view(DOCUMENT, { handle }));
    handle.current?.dispatch({ type: 'delete', ids: ['a'] });
    const editor = JSON.parse(JSON.stringify(handle.current?.session.editor));
    unmount();
    const { rerender } = render(view(DOCUMENT, { handle, editor }));
    handle.current?.dispatch({ type: 'undo' });
    expect(handle.current?.session.editor.document).toEqual(DOCUMENT);
    rerender(view(handle.current?.session.editor.document as DocumentV2, { handle, editor }));
    expect(handle.current?.session.editor).toMatchObject({ document: DOCUMENT, future: [{ before: [] }] });
  });

  it('says aloud why something is refused, and leaves the page its keys', () => {
    const onNotice = vi.fn();
    const onKey = vi.fn();
    render(
      // biome-ignore lint/a11y/noStaticElementInteractions: it stands for the page.
      <div onKeyDown={({ key }) => onKey(key)}>{view(DOCUMENT, { readOnly: true, onNotice })}</div>,
    );
    const canvas = screen.getByRole('application');
    fireEvent.keyDown(canvas, { key: 'a', ctrlKey: true });
    fireEvent.keyDown(canvas, { key: 'Delete' });
    expect(onNotice).toHaveBeenCalledWith('readOnly', 'The picture can only be looked at here.');
    expect(screen.getByText('The picture can only be looked at here.')).toBeInstanceOf(HTMLElement);
    fireEvent.keyDown(canvas, { key: '?' });
    expect(onKey.mock.calls).toEqual([['?']]);
  });
});
