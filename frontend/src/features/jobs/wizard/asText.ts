import type { RunRequest } from '@/api/contract/jobs';
import { parameterText } from './parameterLines';
import { joinWords, quoteWord } from './shellWords';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const PLAIN = /^[A-Za-z_/][\w ./@+-]*$/;
const RESERVED = /^(true|false|null|yes|no|on|off|~)$/i;

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return PLAIN.test(value) && !RESERVED.test(value) && value.trim() === value ? value : JSON.stringify(value);
}

/** JSON-like data as YAML 1.2: enough for a run request. */
export function toYaml(value: unknown, indent = ''): string {
  if (typeof value === 'string' && value.includes('\n'))
    return `|\n${value
      .trimEnd()
      .split('\n')
      .map((line) => `${indent}${line}`)
      .join('\n')}`;
  if (typeof value !== 'object' || value === null) return scalar(value);
  const entries = Array.isArray(value) ? value.map((item) => ['-', item] as const) : Object.entries(value);
  if (entries.length === 0) return Array.isArray(value) ? '[]' : '{}';
  const lines = entries
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => {
      const nested = typeof item === 'object' && item !== null && Object.keys(item).length > 0;
      const head = key === '-' ? `${indent}-` : `${indent}${scalar(key)}:`;
      return nested ? `${head}\n${toYaml(item, `${indent}  `)}` : `${head} ${toYaml(item, `${indent}  `)}`;
    });
  return lines.join('\n');
}

/** As short as it can be said without asking for another size. */
function sizeOf(bytes: number): string {
  const gib = Math.round((bytes / GIB) * 100) / 100;
  if (Math.abs(gib * GIB - bytes) < 1) return `${gib}GiB`;
  return bytes % MIB === 0 ? `${bytes / MIB}MiB` : String(bytes);
}

const startText = ({ when, percent }: NonNullable<RunRequest['start']>) =>
  when === 'share' ? `at:${percent}` : when === 'now' ? 'now' : 'when-there';

function commonOptions(request: RunRequest): string[] {
  const { cpus, memory_bytes: memoryBytes, gpus } = request.resources ?? {};
  return [
    ...(request.name ? ['--name', request.name] : []),
    ...(cpus ? ['--cpus', String(cpus)] : []),
    ...(memoryBytes ? ['--memory', sizeOf(memoryBytes)] : []),
    ...(gpus ? ['--gpus', String(gpus)] : []),
    ...(request.accelerator ? ['--accelerator', request.accelerator] : []),
    ...(request.nodes ? ['--nodes', String(request.nodes)] : []),
    ...(request.launcher ? ['--launcher', request.launcher] : []),
    ...(request.start ? ['--start', startText(request.start)] : []),
    ...(request.cluster ? ['--cluster', request.cluster] : []),
    ...(request.image ? ['--image', request.image] : []),
    ...Object.entries(request.env ?? {}).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...(request.secrets ?? []).flatMap((name) => ['--secret', name]),
    ...(request.tags ?? []).flatMap((tag) => ['--tag', tag]),
    ...(request.timeout_s ? ['--timeout', String(request.timeout_s)] : []),
    ...(request.max_retries ? ['--retries', String(request.max_retries)] : []),
  ];
}

function viewOf(request: RunRequest, alias: string): string {
  const view = request.selectors?.[alias]?.view;
  return view ? `?view=${view}` : '';
}

const wheres = (request: RunRequest): string[] =>
  Object.entries(request.selectors ?? {}).flatMap(([alias, { where }]) =>
    where ? ['--where', `${alias}=${where}`] : [],
  );

/** The same run from a terminal. */
export function toCli(request: RunRequest, project: string): string {
  const head = ['atom', '--project', project];
  if (request.workflow) {
    const parameters = Object.entries(request.parameters ?? {}).flatMap(([name, value]) => [
      '-p',
      `${name}=${value}${viewOf(request, name)}`,
    ]);
    const how = Object.entries(request.deliveries ?? {}).flatMap(([name, one]) => ['--delivery', `${name}=${one}`]);
    const options = [...parameters, ...wheres(request), ...how, ...commonOptions(request)];
    return joinWords([...head, 'workflow', 'run', request.workflow, ...options]);
  }
  const data = Object.entries(request.datasets ?? {}).flatMap(([alias, ref]) => {
    const how = request.deliveries?.[alias];
    return ['--data', `${alias}=${ref}${viewOf(request, alias)}${how ? `:${how}` : ''}`];
  });
  const requirements = (request.requirements ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => ['--req', line]);
  const parameters = Object.entries(request.parameters ?? {}).flatMap(([name, value]) => [
    '-p',
    `${name}=${parameterText(value)}`,
  ]);
  const writes = request.may_write ? ['--may-write'] : [];
  const code = request.code_snapshot ? ['--code-snapshot', request.code_snapshot] : [];
  const asked = [
    ...code,
    ...parameters,
    ...commonOptions(request),
    ...data,
    ...wheres(request),
    ...requirements,
    ...writes,
  ];
  const options = joinWords([...head, 'run', ...asked]);
  return `${options} -- ${(request.command ?? []).map(quoteWord).join(' ')}`;
}
