import { ActionIcon, Button, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { DatasetPreflight } from '@/api/contract/jobs';
import { CodeSource } from './CodeSource';
import { DataSelection, selectionErrors } from './DataSelection';
import { DatasetPicker } from './DatasetPicker';
import { COMMAND, type DatasetRow, type Draft } from './draft';
import { parameterField } from './draftErrors';
import { NameField } from './NameField';
import { ParameterField } from './ParameterField';
import { SplitField } from './SplitField';
import type { StepProps } from './stepProps';
import classes from './wizard.module.css';
import { isNarrowable, splitParameters } from './workflowData';

type ParametersStepProps = StepProps & { looks: readonly DatasetPreflight[] };

/** The command or parameters of the run, its data, and its name. */
export function ParametersStep({ looks, ...props }: ParametersStepProps) {
  const isCommand = props.draft.workflow === COMMAND;
  if (!isCommand && !props.workflow) return null;
  return (
    <Stack gap="md">
      {isCommand ? <CommandFields {...props} /> : <WorkflowFields looks={looks} {...props} />}
      <NameField {...props} />
    </Stack>
  );
}

function WorkflowFields({ looks, draft, dispatch, errors, workflow }: ParametersStepProps) {
  const { t } = useTranslation();
  if (!workflow) return null;
  if (workflow.parameters.length === 0) return <Text c="dimmed">{t('wizard.noParameters')}</Text>;
  const splits = splitParameters(workflow);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
      {workflow.parameters.map((parameter) => (
        // A dataset is two fields beside each other.
        <div key={parameter.name} className={parameter.type === 'dataset' ? classes.wide : undefined}>
          {parameter.name in splits ? (
            <SplitField
              parameter={parameter}
              look={looks.find(({ alias }) => alias === splits[parameter.name])}
              value={draft.parameters[parameter.name]}
              error={errors[parameterField(parameter.name)]}
              onChange={(value) => dispatch({ type: 'parameter', name: parameter.name, value })}
            />
          ) : (
            <ParameterField
              parameter={parameter}
              value={draft.parameters[parameter.name]}
              error={errors[parameterField(parameter.name)]}
              onChange={(value) => dispatch({ type: 'parameter', name: parameter.name, value })}
            />
          )}
          {parameter.type === 'dataset' && isNarrowable(workflow, parameter.name) && (
            <DataSelection
              label={parameter.title || parameter.name}
              reference={String(draft.parameters[parameter.name] ?? '')}
              value={draft.selections[parameter.name] ?? {}}
              errors={selectionErrors(errors, parameter.name)}
              onChange={(selection) => dispatch({ type: 'selection', name: parameter.name, selection })}
            />
          )}
        </div>
      ))}
    </SimpleGrid>
  );
}

function CommandFields({ draft, dispatch, errors }: StepProps) {
  const { t } = useTranslation();
  const set = (values: Partial<Draft>) => dispatch({ type: 'set', values });
  return (
    <Stack gap="md">
      <Textarea
        label={t('wizard.command')}
        description={t('wizard.commandHint')}
        placeholder="python train.py --epochs 10"
        withAsterisk
        autosize
        minRows={2}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={draft.command}
        error={errors.command}
        onChange={(event) => set({ command: event.currentTarget.value })}
      />
      <Textarea
        label={t('jobs.config.parameters')}
        description={t('wizard.parameterLinesHint')}
        placeholder="lr=0.1"
        autosize
        minRows={2}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={draft.parameterLines}
        error={errors.parameters}
        onChange={(event) => set({ parameterLines: event.currentTarget.value })}
      />
      <CodeSource draft={draft} set={set} error={errors.code_snapshot} />
      <Textarea
        label={t('wizard.requirements')}
        description={t('wizard.requirementsHint')}
        placeholder="numpy==2.3.5"
        autosize
        minRows={2}
        value={draft.requirements}
        error={errors.requirements}
        onChange={(event) => set({ requirements: event.currentTarget.value })}
      />
      <DatasetRows rows={draft.datasets} errors={errors} onChange={(datasets) => set({ datasets })} />
    </Stack>
  );
}

interface DatasetRowsProps {
  rows: DatasetRow[];
  errors: Record<string, string>;
  onChange: (rows: DatasetRow[]) => void;
}

function DatasetRows({ rows, errors, onChange }: DatasetRowsProps) {
  const { t } = useTranslation();
  const replace = (index: number, values: Partial<DatasetRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...values } : row)));
  return (
    <Stack gap="xs" role="group" aria-label={t('jobs.config.data')}>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
        <Group key={index} align="flex-start" gap="xs" wrap="nowrap">
          <TextInput
            w={130}
            label={t('wizard.alias')}
            value={row.alias}
            onChange={(event) => replace(index, { alias: event.currentTarget.value })}
          />
          <div style={{ flex: 1 }}>
            <DatasetPicker
              label={t('wizard.dataset')}
              value={row.dataset ? `${row.dataset}@${row.ref}` : ''}
              error={errors[`datasets.${row.alias}`]}
              onChange={(value) => {
                const at = value.lastIndexOf('@');
                const dataset = value.slice(0, Math.max(0, at));
                // A view is one of its dataset's.
                const view = dataset === row.dataset ? row.view : undefined;
                replace(index, { dataset, ref: value.slice(at + 1), view });
              }}
            />
            <DataSelection
              label={row.alias}
              reference={row.dataset ? `${row.dataset}@${row.ref}` : ''}
              value={{ where: row.where, view: row.view }}
              errors={selectionErrors(errors, row.alias || row.dataset)}
              onChange={(selection) => replace(index, selection)}
            />
          </div>
          <ActionIcon
            color="gray"
            size="lg"
            mt={24}
            aria-label={t('wizard.removeDataset', { alias: row.alias })}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() =>
            onChange([...rows, { alias: rows.length === 0 ? 'data' : `data${rows.length + 1}`, dataset: '', ref: '' }])
          }
        >
          {t('wizard.addDataset')}
        </Button>
      </div>
    </Stack>
  );
}
