import { screen } from '@testing-library/react';
import { useTranslation } from 'react-i18next';
import { expect, test } from 'vitest';
import type { Run } from '@/api/contract/jobs';
import type { DataGate } from '@/api/schema';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { renderPage } from '@/test/render';
import { startItems } from './startItems';

const gate: DataGate = {
  when: 'share',
  percent: 80,
  why: { code: 'jobs.start_by_person', sentence: 'A person chose this.', params: {} },
  notice: null,
  nodes: ['gpu-1', 'gpu-2'],
  percent_there: 12,
  bytes_present: 2 ** 30,
  bytes_total: 8 * 2 ** 30,
  eta_s: 180,
  opened_at: null,
  plans: [],
};

function Items({ run }: { run: Partial<Run> }) {
  const { t } = useTranslation();
  return <KeyValueList items={startItems(t, useFormat(), run as Run)} />;
}

test('a run that waits shows its way, the reason and how far its data is', async () => {
  await renderPage(<Items run={{ start: { when: 'share', percent: 80 }, data_gate: gate }} />);
  expect(await screen.findAllByText('At 80 % of the data')).toHaveLength(2);
  expect(screen.getByText('A person chose this.')).toBeTruthy();
  expect(screen.getByText(/1 GiB of 8 GiB on gpu-1, gpu-2, about/)).toBeTruthy();
});

test('a run leads to the plan that brings its data, and to each of several', async () => {
  await renderPage(<Items run={{ start: null, data_gate: { ...gate, plans: ['p1'] } }} />);
  const link = await screen.findByRole('link', { name: 'warm-up plan' });
  expect(link.getAttribute('href')).toContain('/warm-plans?plan=p1');
});

test('several plans have numbers', async () => {
  await renderPage(<Items run={{ start: null, data_gate: { ...gate, plans: ['p1', 'p2'] } }} />);
  const last = await screen.findByRole('link', { name: 'warm-up plan 2' });
  expect(last.getAttribute('href')).toContain('plan=p2');
});

test('a run that streams instead says why, and one without data says nothing', async () => {
  const notice = { code: 'jobs.gate_cancelled', sentence: 'A person cancelled the warm-up.', params: {} };
  await renderPage(<Items run={{ start: null, data_gate: { ...gate, notice, opened_at: '2026-03-02T09:30:00Z' } }} />);
  expect(await screen.findByText('A person cancelled the warm-up.')).toBeTruthy();
  expect(screen.queryByText('Data before the start')).toBeNull();
});
