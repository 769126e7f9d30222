import { ActionIcon, Button, Fieldset, Select, SimpleGrid, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { RunQueue, RunQueueRequest, RunQueues } from '@/api/schema';
import { useProjects } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { notifySuccess } from '@/shared/ui/undo';
import { useSetQueues } from './queries';

interface Row {
  project: string;
  cluster_queue: string;
  local_queue: string;
  /** A resource a line. */
  uncounted: string;
}
interface Values {
  hasCommon: boolean;
  every_project: Row;
  projects: Row[];
}
type QueueForm = Pick<UseFormReturnType<Values>, 'getInputProps' | 'errors'>;

interface QueuesFormProps {
  cluster: string;
  queues: RunQueues;
  onDone: () => void;
}

/** The queue for every project and those of single ones; all of them are sent together. */
export default function QueuesForm({ cluster, queues, onDone }: QueuesFormProps) {
  const { t } = useTranslation();
  const set = useSetQueues(cluster);
  const all = useProjects();
  const { every_project: common, projects = [] } = queues;
  const form = useForm<Values>({
    initialValues: {
      hasCommon: common != null,
      every_project: rowOf(common ?? null),
      projects: projects.map((one) => ({ ...rowOf(one), project: one.project })),
    },
    validate: {
      every_project: {
        cluster_queue: (name, values) =>
          values.hasCommon && !name.trim() ? t('clusterQueues.clusterQueueMissing') : null,
      },
      projects: {
        project: (slug, values) => {
          if (!slug) return t('clusterQueues.projectMissing');
          const isTwice = values.projects.filter((one) => one.project === slug).length > 1;
          return isTwice ? t('clusterQueues.projectTwice') : null;
        },
      },
    },
  });
  const send = async (values: Values) => {
    await set({
      every_project: values.hasCommon ? sentQueue(values.every_project) : null,
      projects: values.projects.map((row) => ({ ...sentQueue(row), project: row.project })),
    });
    notifySuccess(t('clusterQueues.kept', { name: cluster }));
    onDone();
  };
  const slugs = (all.data?.results ?? []).map(({ slug }) => slug);
  const known = [...new Set([...slugs, ...projects.map((one) => one.project)])].toSorted();
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone}>
      <Text size="sm" c="dimmed">
        {t('clusterQueues.hint')}
      </Text>
      <Switch label={t('clusterQueues.hasCommon')} {...form.getInputProps('hasCommon', { type: 'checkbox' })} />
      {form.values.hasCommon && (
        <Fieldset legend={t('clusterQueues.everyProject')} variant="filled" p="sm">
          <QueueFields form={form} path="every_project" />
        </Fieldset>
      )}
      {form.values.projects.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name of its own until it is chosen
        <Fieldset key={index} legend={row.project || t('clusterQueues.newProject')} variant="filled" p="sm">
          <Select
            label={t('clusterQueues.project')}
            data={known}
            searchable
            allowDeselect={false}
            mb="xs"
            {...form.getInputProps(`projects.${index}.project`)}
          />
          <QueueFields form={form} path={`projects.${index}`} hint={t('clusterQueues.clusterQueueHint')} />
          <ActionIcon
            variant="subtle"
            color="red"
            mt="xs"
            aria-label={t('clusterQueues.remove', { project: row.project || t('clusterQueues.newProject') })}
            onClick={() => form.removeListItem('projects', index)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Fieldset>
      ))}
      <div>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem('projects', rowOf(null))}
        >
          {t('clusterQueues.add')}
        </Button>
      </div>
    </FormFrame>
  );
}

function QueueFields({ form, path, hint }: { form: QueueForm; path: string; hint?: string }) {
  const { t } = useTranslation();
  const field = (name: keyof Row) => form.getInputProps(`${path}.${name}`);
  const prefix = `${path}.uncounted.`;
  // The server names the place of the resource that is wrong; the form has one field for all of them.
  const wrong = Object.entries(form.errors).find(([name]) => name.startsWith(prefix))?.[1];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <TextInput
        label={t('clusterQueues.clusterQueue')}
        description={hint}
        autoComplete="off"
        spellCheck={false}
        {...field('cluster_queue')}
      />
      <TextInput
        label={t('clusterQueues.localQueue')}
        description={t('clusterQueues.localQueueHint')}
        autoComplete="off"
        spellCheck={false}
        {...field('local_queue')}
      />
      <Textarea
        label={t('clusterQueues.uncounted')}
        description={t('clusterQueues.uncountedHint')}
        autosize
        spellCheck={false}
        style={{ gridColumn: '1 / -1' }}
        {...field('uncounted')}
        error={form.errors[`${path}.uncounted`] ?? wrong}
      />
    </SimpleGrid>
  );
}

const rowOf = (queue: RunQueue | null): Row => ({
  project: '',
  cluster_queue: queue?.cluster_queue ?? '',
  local_queue: queue?.local_queue ?? '',
  uncounted: (queue?.uncounted ?? []).join('\n'),
});

const sentQueue = (row: Row): RunQueueRequest => ({
  cluster_queue: row.cluster_queue.trim(),
  local_queue: row.local_queue.trim(),
  uncounted: row.uncounted
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== ''),
});
