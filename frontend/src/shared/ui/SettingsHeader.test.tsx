import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { AdministrationHeader } from '@/features/administration/AdministrationHeader';
import { ProjectHeader } from '@/features/project/ProjectHeader';
import { expectNoViolations } from '@/test/axe';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';

const project = (role: string) =>
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role, unit: null }));
const tabs = async (bar: string) =>
  within(await screen.findByRole('navigation', { name: bar }))
    .queryAllByRole('link')
    .map((tab) => [tab.textContent, tab.getAttribute('href'), tab.getAttribute('aria-current')]);

test('the settings of a project are tabs, and the open one is marked', async () => {
  project('admin');
  const page = <ProjectHeader tab="webhooks" />;
  const { container } = await renderPage(page, '/settings/webhooks', '/settings/webhooks');
  await screen.findByRole('link', { name: 'Members' });
  expect(await tabs('Pages of Project settings')).toEqual([
    ['Members', '/settings/members', null],
    ['Secrets', '/settings/secrets', null],
    ['Webhooks', '/settings/webhooks', 'page'],
    ['Shared runs', '/settings/run-shares', null],
  ]);
  screen.getByRole('heading', { level: 1, name: 'Project settings' });
  expect(document.title).toBe('Webhooks · Project settings · Atom');
  await expectNoViolations(container);
});

test('tabs that a role may not open are not shown', async () => {
  project('researcher');
  await renderPage(<ProjectHeader tab="secrets" />, '/settings/secrets', '/settings/secrets');
  await screen.findByRole('link', { name: 'Secrets' });
  expect(await tabs('Pages of Project settings')).toEqual([['Secrets', '/settings/secrets', 'page']]);
});

test('the administration is tabs too', async () => {
  project('viewer');
  serve('GET', 'auth/session/', {
    authenticated: true,
    user: { id: 'u', username: 'root', full_name: '', is_admin: true, administers_units: true, language: 'en' },
  });
  const page = <AdministrationHeader tab="health" />;
  const { container } = await renderPage(page, '/settings/health', '/settings/health');
  await screen.findByRole('link', { name: 'System health' });
  expect(await tabs('Pages of Administration')).toEqual([
    ['Units and projects', '/settings/units', null],
    ['All people', '/settings/people', null],
    ['System health', '/settings/health', 'page'],
    ['Second stores', '/settings/stores', null],
  ]);
  expect(document.title).toBe('System health · Administration · Atom');
  await expectNoViolations(container);
});
