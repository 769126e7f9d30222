import { fireEvent, screen } from '@testing-library/react';
import { useReducer } from 'react';
import { expect, test } from 'vitest';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { rememberProject, useProject } from './project';

const project = (slug: string) => ({ slug, name: slug, role: 'admin', unit: null });

function Probe() {
  const [, again] = useReducer((count: number) => count + 1, 0);
  return (
    <button type="button" onClick={again}>
      {useProject() || 'none'}
    </button>
  );
}

test('what another tab chooses does not move this one; what this one chooses does', async () => {
  serve('GET', 'projects/', listing(project('nlp'), project('speech'), project('vision')));
  await renderPage(<Probe />, '/runs');
  const button = await screen.findByRole('button', { name: 'nlp' });
  // Another tab writes what all tabs share.
  localStorage.setItem('atom-project', 'vision');
  window.dispatchEvent(new StorageEvent('storage', { key: 'atom-project' }));
  fireEvent.click(button);
  expect(button.textContent).toBe('nlp');
  rememberProject('speech');
  fireEvent.click(button);
  expect(button.textContent).toBe('speech');
  expect(localStorage.getItem('atom-project')).toBe('speech');
});

test('a project beyond the first page of the list is one like the others', async () => {
  serve('GET', 'projects/', (_: Request, url: URL) =>
    url.searchParams.get('cursor') === 'second'
      ? listing(project('zebra'))
      : { results: [project('ape')], next: 'second' },
  );
  await renderPage(<Probe />, '/runs?project=zebra');
  await screen.findByRole('button', { name: 'zebra' });
});
