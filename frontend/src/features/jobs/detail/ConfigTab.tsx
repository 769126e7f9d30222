import { Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Run, RunInput } from '@/api/contract/jobs';
import { CommandLine } from '@/shared/ui/CommandLine';
import { CopyId } from '@/shared/ui/CopyId';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { AnchorLink } from '@/shared/ui/links';
import { StateBadge } from '@/shared/ui/StateBadge';
import { Bytes } from '@/shared/ui/values';
import { CodeChanges } from '../code/CodeChanges';
import { hoursText } from '../hours';
import { Section, shown } from '../Section';
import { isActive, isTracked } from '../states';
import { joinWords } from '../wizard/shellWords';
import { InCluster } from './InCluster';
import { startItems } from './startItems';
import { WhyHere } from './WhyHere';

/** A version and the part of it that the run saw: the link shows the same files. */
function InputLink({ dataset, ref, selector: { where } }: RunInput) {
  return (
    <AnchorLink to="/datasets/$name" params={{ name: dataset }} search={{ ref, where }} fz="inherit">
      {`${dataset}@${ref}`}
    </AnchorLink>
  );
}

/** An input, how its data got there and, for a folder, which way of mounting it was and why no better one. */
function InputValue({ input }: { input: RunInput }) {
  const { t } = useTranslation();
  const { view, selector, delivery } = input;
  const how = [t(`jobs.delivery.${delivery}`), input.mounted_by && t('jobs.mountedBy', { how: input.mounted_by })];
  return (
    <Stack gap={2}>
      <Group gap="xs">
        <InputLink {...input} />
        <Text c="dimmed" fz="inherit">
          {how.filter(Boolean).join(' · ')}
        </Text>
      </Group>
      {view && <Text size="xs">{t('jobs.config.view', { name: view })}</Text>}
      {selector.where && (
        <Code block fz="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {selector.where}
        </Code>
      )}
      {input.mount_skipped.map((one) => (
        <Text key={one.how} size="xs" c="dimmed">
          {t('jobs.mountSkipped', { how: one.how, reason: one.reason })}
        </Text>
      ))}
    </Stack>
  );
}

/** A fact about the code's repository: the client that sent it chose what to say. */
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function Names({ names }: { names: string[] }) {
  return names.map((name) => (
    <Code key={name} mr={4}>
      {name}
    </Code>
  ));
}

export function ConfigTab({ run }: { run: Run }) {
  const { t } = useTranslation();
  const tracked = isTracked(run);
  const parameters = Object.entries({ ...run.parameters, ...run.logged_parameters });
  const labels = Object.entries(run.labels);
  const { placement_decision: placement } = run;
  return (
    <Stack gap="md">
      {placement && <WhyHere placement={placement} isActive={isActive(run)} />}
      {!tracked && (
        <Section title={t('jobs.config.command')}>
          <CommandLine command={joinWords(run.command)} />
        </Section>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title={t('jobs.config.parameters')}>
          {parameters.length === 0 && <Text c="dimmed">{t('common.none')}</Text>}
          <KeyValueList items={parameters.map(([name, value]) => [name, <Code key={name}>{shown(value)}</Code>])} />
        </Section>
        {(tracked || labels.length > 0) && (
          <Section title={t('jobs.config.labels')}>
            {labels.length === 0 && <Text c="dimmed">{t('common.none')}</Text>}
            <KeyValueList
              items={labels.map(([name, value]) => [
                name,
                <Text key={name} fz="inherit" lineClamp={6} style={{ overflowWrap: 'anywhere' }}>
                  {shown(value)}
                </Text>,
              ])}
            />
          </Section>
        )}
        {!tracked && <Executed run={run} />}
      </SimpleGrid>
      {run.code && (
        <Section title={t('runpage.code.changes')}>
          <CodeChanges run={run.id} />
        </Section>
      )}
    </Stack>
  );
}

/** The cost of its attempts together. */
function Cost({ run }: { run: Run }) {
  const { t } = useTranslation();
  const format = useFormat();
  const said = [
    t('runs.cpuHours', { hours: hoursText(format, run.cpu_hours ?? 0) }),
    ...(run.gpu_hours ? [t('runs.gpuHours', { hours: hoursText(format, run.gpu_hours) })] : []),
  ];
  return <span title={t('runs.costHint')}>{said.join(' · ')}</span>;
}

/** The settings of a run that Atom itself carries out. */
function Executed({ run }: { run: Run }) {
  const { t } = useTranslation();
  const format = useFormat();
  const names = run.env;
  const commit = textOf(run.code?.git?.commit);
  const { cpus, memory_bytes: memoryBytes, gpus } = run.resources;
  return (
    <>
      <Section title={t('jobs.config.data')}>
        {run.datasets.length === 0 && <Text c="dimmed">{t('common.none')}</Text>}
        <KeyValueList
          items={run.datasets.map((input) => [input.alias, <InputValue key={input.alias} input={input} />])}
        />
      </Section>
      <Section title={t('jobs.config.resources')}>
        <KeyValueList
          items={[
            [t('jobs.cpus'), cpus ?? '–'],
            [t('jobs.memory'), <Bytes key="m" value={memoryBytes} />],
            [t('jobs.gpus'), run.accelerator ? `${gpus} × ${run.accelerator}` : (gpus ?? 0)],
            ...(run.nodes > 1
              ? ([
                  [t('wizard.nodes'), run.nodes],
                  [t('wizard.launcher'), t(`wizard.launcherNames.${run.launcher}`)],
                ] as [string, string | number][])
              : []),
            ...startItems(t, format, run),
            [t('jobs.timeout'), run.timeout_s ? format.duration(run.timeout_s) : null],
            [t('jobs.maxRetries'), run.max_retries],
            [t('jobs.where'), [run.cluster, run.node].filter(Boolean).join(' / ') || null],
            ...(run.image ? [[t('wizard.image'), run.image] as [string, string]] : []),
            [t('runs.cost'), run.cpu_hours === null ? null : <Cost key="c" run={run} />],
            [t('jobs.mayWrite'), run.may_write ? t('common.yes') : t('common.no')],
          ]}
        />
      </Section>
      <InCluster run={run} />
      <Section title={t('jobs.config.environment')}>
        <KeyValueList
          items={[
            [
              t('jobs.config.runtime'),
              run.runtime && (
                <Group gap="xs">
                  <CopyId value={run.runtime.digest} />
                  <StateBadge state={run.runtime.state} />
                </Group>
              ),
            ],
            [
              t('jobs.config.image'),
              run.runtime?.pushed_image && <CopyId value={run.runtime.pushed_image} chars={48} />,
            ],
            [t('jobs.config.code'), run.code && <CopyId value={run.code.digest} />],
            [
              t('jobs.config.files'),
              run.code &&
                t('jobs.config.codeSize', { count: run.code.files_count, size: format.bytes(run.code.size_bytes) }),
            ],
            [t('jobs.config.git'), commit && <CopyId value={commit} chars={10} />],
            [t('git.remote'), textOf(run.code?.git?.remote)],
            [t('git.message'), textOf(run.code?.git?.message)],
            [t('jobs.config.branch'), textOf(run.code?.git?.branch)],
            [t('jobs.config.variables'), names.length > 0 && <Names names={names} />],
            [t('secrets.inRun'), run.secrets.length > 0 && <Names names={run.secrets} />],
          ]}
        />
      </Section>
    </>
  );
}
