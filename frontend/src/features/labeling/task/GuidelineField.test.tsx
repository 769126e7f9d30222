import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useProject } from '@/shared/domain/project';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import '../words';
import Guideline from '../objects/Guideline';
import { GuidelineField } from './GuidelineField';

const A = '0195a3f2-7c41-7b3e-9d52-4f1c8a6e2b90';
const picture = { id: A, sha256: 'ab', media_type: 'image/png', size_bytes: 900, width: 9, height: 9, uses: 0 };
const named = (alt: string) => `![${alt}](picture:${A})`;
const LIST = 'projects/{project}/labelx/guideline-pictures/';

/** Stands in for the browser's request with progress: the answers of `fetch` come through it. */
class RequestOverFetch {
  upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {};
  onloadend = () => {};
  status = 0;
  responseText = '';
  private address = '';
  private readonly headers: Record<string, string> = {};
  private type = '';
  open(_: string, address: string) {
    this.address = address;
  }
  setRequestHeader(name: string, value: string) {
    this.headers[name] = value;
  }
  getResponseHeader() {
    return this.type;
  }
  abort() {
    this.onloadend();
  }
  async send(file: File) {
    this.upload.onprogress?.({ loaded: file.size / 2, total: file.size });
    const body = JSON.stringify({ sent: file.name });
    const answer = await fetch(this.address, { method: 'POST', headers: this.headers, body });
    this.status = answer.status;
    this.type = answer.headers.get('content-type') ?? '';
    this.responseText = await answer.text();
    this.onloadend();
  }
}

beforeEach(() => {
  vi.stubGlobal('XMLHttpRequest', RequestOverFetch);
  serve('POST', LIST, picture);
  serve('GET', LIST, listing());
});
afterEach(() => void vi.unstubAllGlobals());

function Field({ text }: { text: string }) {
  const [value, setValue] = useState(text);
  // As the shell: no page before the project is known.
  if (!useProject()) return null;
  return <GuidelineField value={value} onChange={setValue} />;
}

const file = (name = 'a car.png', bytes = 4) => new File([new Uint8Array(bytes)], name, { type: 'image/png' });
const show = async (text = '') => {
  await renderPage(<Field text={text} />);
  return (await screen.findByLabelText('Guideline')) as HTMLTextAreaElement;
};

test('a chosen picture is sent and named in the text where the cursor is', async () => {
  const area = await show('Look here.');
  expect(screen.getByText(/No pictures yet/)).toBeTruthy();
  area.setSelectionRange(4, 4);
  fireEvent.select(area);
  await userEvent.upload(screen.getByTestId('guideline-pictures'), file());
  await waitFor(() => expect(area.value).toBe(`Look\n\n${named('a car')}\n\n here.`));
  expect(sent.find(({ line }) => line.startsWith('POST'))?.body).toEqual({ sent: 'a car.png' });
  await expectNoViolations(document.body);
});

test('pictures are pasted and dropped, and text with a picture stays text', async () => {
  const area = await show();
  fireEvent.paste(area, { clipboardData: { files: [file('table.png')], types: ['text/plain', 'Files'] } });
  fireEvent.paste(area, { clipboardData: { files: [file('shot.png')], types: ['Files'] } });
  await waitFor(() => expect(area.value).toContain(named('shot')));
  fireEvent.drop(area, { dataTransfer: { files: [file('one.png'), file('two.png')], types: ['Files'] } });
  await waitFor(() => expect(area.value).toContain(named('two')));
  expect(area.value.indexOf(named('one'))).toBeLessThan(area.value.indexOf(named('two')));
  expect(area.value).not.toContain('table');
});

test('a refused picture says why and is sent again', async () => {
  serve('POST', LIST, problem(400, 'guideline_picture_unreadable', 'This file cannot be shown in a guideline.'));
  const area = await show();
  await userEvent.upload(screen.getByTestId('guideline-pictures'), file());
  await screen.findByText(/cannot be shown in a guideline/);
  serve('POST', LIST, picture);
  await userEvent.click(screen.getByRole('button', { name: /Try again/ }));
  await waitFor(() => expect(area.value).toContain(named('a car')));
  expect(screen.queryByText(/cannot be shown/)).toBeNull();
});

test('a picture that is too large is not sent', async () => {
  await show();
  await userEvent.upload(screen.getByTestId('guideline-pictures'), file('huge.png', 10_000_001));
  await screen.findByText('The picture is too large for a guideline.');
  expect(sent.some(({ line }) => line.startsWith('POST'))).toBe(false);
  await userEvent.click(screen.getByRole('button', { name: 'Do not add huge.png' }));
  expect(screen.queryByText(/too large/)).toBeNull();
});

test('descriptions are changed and pictures taken out', async () => {
  const area = await show(`Look.\n\n${named('car')}`);
  await userEvent.type(screen.getByLabelText('Description of picture 1'), 's');
  expect(area.value).toBe(`Look.\n\n${named('cars')}`);
  await userEvent.click(screen.getByRole('button', { name: 'Take picture 1 out of the guideline' }));
  expect(area.value).toBe('Look.\n\n');
});

test('pictures of the project are shown again, and unused ones deleted', async () => {
  serve('GET', LIST, listing(picture, { ...picture, id: A.replace('0195', '0196'), uses: 2 }));
  serve('DELETE', `${LIST}{id}/`, () => new Response(null, { status: 204 }));
  const area = await show();
  await userEvent.click(screen.getByRole('button', { name: 'Pictures of the project' }));
  await screen.findByText('In 2 guidelines');
  await userEvent.click(screen.getByRole('button', { name: 'Delete picture 1 of the project' }));
  await waitFor(() => expect(sent.some(({ line }) => line.startsWith('DELETE') && line.includes(A))).toBe(true));
  await userEvent.click(screen.getByRole('button', { name: 'Put picture 1 of the project into the guideline' }));
  expect(area.value).toContain(named(''));
});

test('a guideline shows pictures of its project, enlarges them, and leaves Escape to the picture', async () => {
  await renderPage(<Guideline text={`${named('a car')}\n\n[link](picture:${A}) ![far](https://far/x.png)`} />);
  const button = await screen.findByRole('button', { name: 'Show larger: a car' });
  const small = screen.getByAltText('a car');
  expect(small.getAttribute('src')).toBe(`/api/v1/projects/vision/labelx/guideline-pictures/${A}/bytes/`);
  // Another site's picture stays a link, and the scheme of pictures is no address of links.
  expect(screen.getByRole('link', { name: 'far' }).getAttribute('href')).toBe('https://far/x.png');
  expect(screen.getByText('link').getAttribute('href')).toBe('');
  button.focus();
  await userEvent.keyboard('{Enter}');
  const large = await screen.findByRole('button', { name: 'Close the picture' });
  fireEvent.keyDown(large, { key: 'Escape' });
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Close the picture' })).toBeNull());
  fireEvent.error(small);
  await screen.findByText(/not in the project: a car/);
});
