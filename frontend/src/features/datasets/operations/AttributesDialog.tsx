import { ActionIcon, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Branch, EditStepRequest } from '@/api/contract/datasets';
import { Dialog } from '@/shared/ui/Dialog';
import { useEdit, useEditPreview } from '../operationQueries';
import { notifyEdited, type OnVersion } from './edited';
import { Message } from './MergeDialog';
import { OperationFrame } from './OperationFrame';
import { type AttributesOf, editedPaths } from './of';
import { Preview } from './Preview';
import { type AttributeRow, patchOf, rowErrors } from './patch';
import { useDialogOperation } from './useOperation';

interface AttributesDialogProps {
  name: string;
  branch: Branch;
  of: AttributesOf;
  opened: boolean;
  onClose: () => void;
  /** Told the version that has them. */
  onDone: OnVersion;
}

/** Sets or removes attributes of files, chosen one by one or by a query. */
export function AttributesDialog({ opened, ...rest }: AttributesDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog
      opened={opened}
      onClose={rest.onClose}
      title={t('versioning.attributesTitle', { branch: rest.branch.name })}
    >
      <AttributesForm {...rest} />
    </Dialog>
  );
}

const EMPTY: AttributeRow = { name: '', value: '' };

function stepOf({ paths, where, view }: AttributesOf, rows: AttributeRow[]): EditStepRequest | null {
  const attributes = patchOf(rows);
  return attributes && { op: 'set', paths: editedPaths({ paths, where, view }), where, view, attributes };
}

function AttributesForm({ name, branch, of, onClose, onDone }: Omit<AttributesDialogProps, 'opened'>) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { rows: [EMPTY], message: '' },
    validate: ({ rows }) =>
      Object.fromEntries(
        Object.entries(rowErrors(rows)).map(([at, said]) => [`rows.${at}.name`, t(`versioning.${said}`)]),
      ),
  });
  const { rows, message } = form.values;
  const [asked] = useDebouncedValue(rows, 300);
  const preview = useEditPreview(name, branch.name, stepOf(of, asked));
  const operation = useDialogOperation(name);
  const edit = useEdit(name, operation);
  const send = async () => {
    const step = stepOf(of, rows);
    if (!step || !branch.head) return;
    const { unchanged, version } = await edit(branch.name, branch.head.commit, [step], message);
    notifyEdited(branch.name, unchanged, version);
    onClose();
    if (version && !unchanged) onDone(branch.name, version.ref);
  };
  return (
    <OperationFrame
      operation={operation}
      form={form}
      send={send}
      submit={t('versioning.attributesSubmit')}
      onCancel={onClose}
    >
      <Chosen of={of} />
      <Stack gap="xs" role="group" aria-label={t('versioning.attributes')}>
        {rows.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
          <Group key={index} gap="xs" align="flex-start" wrap="nowrap">
            <TextInput
              flex={1}
              aria-label={t('versioning.attributeNo', { number: index + 1 })}
              placeholder={t('versioning.attribute')}
              data-autofocus={index === 0 || undefined}
              autoComplete="off"
              {...form.getInputProps(`rows.${index}.name`)}
            />
            <TextInput
              flex={2}
              aria-label={t('versioning.attributeValueNo', { number: index + 1 })}
              placeholder={t('versioning.attributeValueHint')}
              autoComplete="off"
              {...form.getInputProps(`rows.${index}.value`)}
            />
            <ActionIcon
              color="gray"
              size="lg"
              disabled={rows.length === 1}
              aria-label={t('versioning.removeRow', { number: index + 1 })}
              onClick={() => form.removeListItem('rows', index)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Group justify="space-between">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => form.insertListItem('rows', EMPTY)}
          >
            {t('versioning.addAttribute')}
          </Button>
          <Text size="xs" c="dimmed">
            {t('versioning.attributesHint')}
          </Text>
        </Group>
      </Stack>
      <Preview preview={preview} contained={t('versioning.nothing')} />
      <Message {...form.getInputProps('message')} />
    </OperationFrame>
  );
}

const SHOWN = 5;

/** The files that are meant, in words. */
function Chosen({ of: { paths, where, view } }: { of: AttributesOf }) {
  const { t } = useTranslation();
  const lines = [
    ...paths.slice(0, SHOWN),
    paths.length > SHOWN && `… ${t('versioning.selected', { count: paths.length })}`,
    view && t('views.applied', { name: view }),
    where,
  ].filter(Boolean);
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {t('versioning.attributesOf')}
      </Text>
      <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {lines.join('\n') || t('versioning.everyFile')}
      </Code>
    </div>
  );
}
