import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Attempt, Explanation, Placement, Run, RunEvent, RunShort } from '@/api/contract/jobs';
import { addWords, sayDetail } from '@/i18n';
import { jobs } from '@/i18n/jobs.en';
import type { Sentence } from '@/i18n/sentences/sentence';
import { type Format, useFormat } from '../ui/format';

addWords({ jobs });

/** The values that a sentence of the server names. */
type Params = Record<string, unknown>;
type Reason = Explanation['reasons'][number];
type Failed = Pick<RunShort | Attempt, 'failure_reason'> & {
  failure: Pick<NonNullable<Attempt['failure']>, 'code' | 'params'> | null;
};

interface Lack {
  node: string;
  usable: boolean;
  cpus: number;
  memory_bytes: number;
  gpus: number;
  /** The kind of the GPUs; empty, or left out by an older server: any. */
  accelerator?: string;
}

const PLACEHOLDER = /{{\s*(\w+)/g;

/** Values as a reader's language writes them, by the unit that their names end with. */
function shown(params: Params, format: Format): Params {
  const write = ([name, value]: [string, unknown]): [string, unknown] => {
    if (typeof value !== 'number') return [name, value];
    if (name.startsWith('bytes_') || name.endsWith('_bytes')) return [name, format.bytes(value)];
    if (name.endsWith('_s')) return [name, format.duration(value)];
    if (name === 'coverage') return [name, format.percent(value)];
    if (name === 'accuracy') return [name, format.percent(value, 2)];
    return [name, value];
  };
  return Object.fromEntries(Object.entries(params).map(write));
}

/** A run on several nodes waits for its turn, or for the rest of its nodes; only the second has numbers. */
const gangKey = (params: Params) => ('joined' in params ? 'gang_forming' : 'gang_turn');

/** A run that waits for its data has nodes for it after a moment, and then an estimate. */
const gateKey = (params: Params) =>
  params.nodes ? (params.eta_s == null ? 'data_gate' : 'data_gate_eta') : 'data_gate_choosing';

/**
 * The server's sentences in the reader's language: chosen by their code and filled in from their parameters. A code that
 * this portal does not know, or a record of an older server without parameters, is said in the server's English.
 */
export function createWords(t: TFunction, format: Format, language: string) {
  const lists = new Intl.ListFormat(language, { style: 'narrow', type: 'conjunction' });

  const say = (key: string, params: Params, fallback: string): string => {
    const values = shown(params, format);
    const template = String(t(key as never, { ...values, defaultValue: '', skipInterpolation: true } as never));
    const needed = [...template.matchAll(PLACEHOLDER)].map((match) => match[1] as string);
    if (template === '' || needed.some((name) => values[name] == null)) return fallback;
    return String(t(key as never, values as never));
  };

  const amounts = ({ cpus, memory_bytes: memoryBytes, gpus, accelerator }: Omit<Lack, 'node' | 'usable'>): string =>
    lists.format([
      ...(cpus > 0 ? [t('jobs.amount.cpus', { count: cpus })] : []),
      ...(memoryBytes > 0 ? [t('jobs.amount.memory', { size: format.bytes(memoryBytes) })] : []),
      ...(gpus > 0 ? [`${t('jobs.amount.gpus', { count: gpus })} ${accelerator ?? ''}`.trim()] : []),
    ]);

  const lack = (node: Lack): string =>
    node.usable
      ? t('jobs.placement.lacks', { node: node.node, amounts: amounts(node) })
      : t('jobs.placement.closed', { node: node.node });

  const placement = ({ code, params, why }: Pick<Placement, 'code' | 'params' | 'why'>): string => {
    const { nodes, ...rest } = params as Params & { nodes?: Lack[] };
    // A cluster that does not take the run at once says why.
    if (rest.reason) return sayDetail(why, rest.reason as Sentence);
    const demand = typeof rest.cpus === 'number' ? amounts(rest as unknown as Lack) : undefined;
    const machines = nodes && lists.format(nodes.map(lack));
    // A job that reads no data is told nothing about data.
    const isWithoutData = 'coverage' in rest && rest.coverage === null;
    return say(`jobs.placement.${code}${isWithoutData ? '_no_data' : ''}`, { ...rest, demand, machines }, why);
  };

  const failure = (failed: Failed): string | null =>
    failed.failure
      ? say(`jobs.failure.${failed.failure.code}.reason`, failed.failure.params, failed.failure_reason ?? '')
      : failed.failure_reason;

  const suggestion = (run: Run): string | null =>
    run.failure
      ? say(`jobs.failure.${run.failure.code}.suggestion`, run.failure.params, run.suggestion ?? '')
      : run.suggestion;

  const ended = ({ data, text }: RunEvent): string => {
    if (data.code) return say(`jobs.failure.${data.code}.reason`, (data.params ?? {}) as Params, text);
    return say(data.reason === 'cancelled' ? 'jobs.event.ended_cancelled' : 'jobs.event.ended', data, text);
  };

  const event = (one: RunEvent): string => {
    if (one.kind === 'ended') return ended(one);
    if (one.kind === 'placed' && one.data.code)
      return placement({ ...(one.data as unknown as Placement), why: one.text });
    if (one.data.sentence) return sayDetail(one.text, one.data.sentence as Sentence);
    // Some are said in the singular or the plural of the files that they name.
    const kind = one.kind === 'mounted' && 'links' in one.data ? 'mounted_links' : one.kind;
    return say(`jobs.event.${kind}`, { count: one.data.files, ...one.data }, one.text);
  };

  const reason = ({ kind, params, text }: Reason): string => {
    if (params.code) return placement({ ...(params as unknown as Placement), why: text });
    if (kind === 'retry' && params.at) return t('jobs.reason.retry', { at: format.dateTime(String(params.at)) });
    if (kind === 'queue') return t('jobs.reason.queue', { count: Number(params.ahead) });
    if (kind === 'passed') return t('jobs.reason.passed', { count: Number(params.passed) });
    if (kind === 'cluster')
      return say('jobs.reason.cluster', { ...params, said: detail(params, 'sentence', 'said') }, text);
    if (kind === 'place')
      return say('jobs.reason.place', { ...params, said: detail(params, 'sentence', 'said') }, text);
    if (kind === 'data_gate') return say(`jobs.reason.${gateKey(params)}`, params, text);
    if (kind === 'rdma_off' || kind === 'data_trouble') return detail(params, 'sentence', 'said');
    if (kind === 'gang') return say(`jobs.reason.${gangKey(params)}`, params, text);
    return say(`jobs.reason.${kind}`, params, text);
  };

  /** A sentence of a cluster's objects, in the reader's language if its code is known. */
  const detail = (params: Params, name: string, fallback: string): string =>
    sayDetail(String(params[fallback] ?? ''), params[name] as Sentence | undefined);

  const action = ({ kind, action: text, params }: Reason): string => {
    if (!text) return '';
    if (kind === 'cluster' && params.suggestion) return sayDetail(text, params.suggestion as Sentence);
    if (kind === 'gang') return say(`jobs.reasonAction.${gangKey(params)}`, params, text);
    return say(`jobs.reasonAction.${kind}`, {}, text);
  };

  return {
    placement,
    failure,
    suggestion,
    event,
    reason,
    action,
    failureClass: (name: string): string => say(`jobs.failureClass.${name}`, {}, name),
  };
}

export type WordsOf = ReturnType<typeof createWords>;

export function useWords(): WordsOf {
  const { t, i18n } = useTranslation();
  const format = useFormat();
  return useMemo(() => createWords(t, format, i18n.language), [t, format, i18n.language]);
}
