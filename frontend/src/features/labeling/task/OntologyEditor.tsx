import {
  ActionIcon,
  Button,
  Card,
  Collapse,
  ColorInput,
  Group,
  MultiSelect,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { defaultHotkey } from '../labels';
import { SHAPE_KINDS } from '../objects/types';
import { AttributesEditor } from './AttributesEditor';
import {
  type LabelDraft,
  newAttribute,
  newLabel,
  possibleParents,
  type Tool,
  withoutEnd,
  withoutLabel,
} from './ontologyDraft';
import { RelationsEditor } from './RelationsEditor';
import { SkeletonEditor } from './SkeletonEditor';
import type { TaskForm } from './taskForm';

/** The labels of a task in which objects are drawn. */
export function OntologyEditor({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const { labels } = form.values;
  const add = () => {
    const used = new Set(labels.map((label) => label.hotkey));
    const free = Array.from({ length: 9 }, (_, index) => defaultHotkey(index)).find((key) => !used.has(key)) ?? '';
    form.clearFieldError('labels');
    form.insertListItem('labels', newLabel(labels, { hotkey: free }));
  };
  return (
    <Stack gap={8} role="group" aria-label={t('labeling.classes')} data-wrong={Boolean(form.errors.labels)}>
      <div>
        <Text size="sm" fw={500}>
          {t('labeling.classes')}{' '}
          <Text span inherit c="var(--mantine-color-error)" aria-hidden>
            *
          </Text>
        </Text>
        <Text size="xs" c="dimmed">
          {t('labeling.ontology.hint')}
        </Text>
      </div>
      {labels.map((label, index) => (
        <LabelCard key={label.id} form={form} label={label} index={index} />
      ))}
      {form.errors.labels && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {form.errors.labels}
        </Text>
      )}
      <div>
        <Button variant="default" leftSection={<IconPlus size={14} />} onClick={add} data-fix>
          {t('labeling.create.addLabel')}
        </Button>
      </div>
      <RelationsEditor form={form} />
      <PictureQuestions form={form} />
    </Stack>
  );
}

interface LabelCardProps {
  form: TaskForm;
  label: LabelDraft;
  index: number;
}

/** Errors below `labels.2.attributes.`, by the rest of their names. */
function errorsBelow(form: TaskForm, prefix: string): Record<string, string> {
  const entries = Object.entries(form.errors).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(entries.map(([name, error]) => [name.slice(prefix.length), String(error)]));
}

function LabelCard({ form, label, index }: LabelCardProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const { labels } = form.values;
  const name = label.name.trim() || t('labeling.create.unnamed', { number: index + 1 });
  const field = <K extends keyof LabelDraft>(key: K, value: LabelDraft[K]) =>
    form.setFieldValue(`labels.${index}.${key}`, value as never);
  const parents = possibleParents(label, labels).filter((one) => one.name.trim());
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <Card withBorder p="xs" role="group" aria-label={name}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <TextInput
          flex={1}
          miw={90}
          aria-label={t('labeling.create.labelName', { number: index + 1 })}
          placeholder={t('common.name')}
          {...form.getInputProps(`labels.${index}.name`)}
        />
        <ColorInput
          w={112}
          aria-label={t('labeling.create.labelColor', { name })}
          format="hex"
          withEyeDropper={false}
          {...form.getInputProps(`labels.${index}.color`)}
        />
        <TextInput
          w={46}
          maxLength={1}
          aria-label={t('labeling.create.labelKey', { name })}
          styles={{ input: { textAlign: 'center' } }}
          {...form.getInputProps(`labels.${index}.hotkey`)}
        />
        <ActionIcon
          color="gray"
          size="lg"
          aria-label={t('labeling.create.removeLabel', { name })}
          onClick={() => {
            form.setFieldValue('labels', withoutLabel(labels, label.id));
            form.setFieldValue('schema', (old) => withoutEnd(old, label.id));
          }}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
      <MultiSelect
        mt={6}
        size="xs"
        aria-label={t('labeling.ontology.toolsOf', { name })}
        placeholder={label.tools.length === 0 ? t('labeling.ontology.tools') : undefined}
        data={['classification' as const, ...SHAPE_KINDS].map((kind) => ({
          value: kind,
          label: t(`labeling.objects.tool.${kind}`),
        }))}
        value={label.tools}
        error={form.errors[`labels.${index}.tools`]}
        onChange={(tools) => field('tools', tools as Tool[])}
      />
      <Button
        mt={6}
        size="compact-xs"
        variant="subtle"
        style={{ alignSelf: 'flex-start' }}
        leftSection={<Chevron size={14} />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {t('labeling.ontology.more', { count: label.attributes.length })}
      </Button>
      <Collapse expanded={isOpen}>
        <Stack gap="xs" mt={6}>
          {parents.length > 0 && (
            <Select
              size="xs"
              clearable
              label={t('labeling.ontology.parent')}
              data={parents.map((one) => ({ value: String(one.id), label: one.name }))}
              value={label.parent === null ? null : String(label.parent)}
              onChange={(value) => field('parent', value === null ? null : Number(value))}
            />
          )}
          <AttributesEditor
            owner={name}
            attributes={label.attributes}
            errors={errorsBelow(form, `labels.${index}.attributes.`)}
            onAdd={() =>
              field('attributes', [...label.attributes, newAttribute(labels, form.values.schema.attributes ?? [])])
            }
            onChange={(attributes) => field('attributes', attributes)}
          />
          {label.tools.includes('keypoints') && (
            <SkeletonEditor
              owner={name}
              skeleton={label.skeleton}
              error={errorsBelow(form, `labels.${index}.skeleton`)['']}
              onChange={(skeleton) => field('skeleton', skeleton)}
            />
          )}
        </Stack>
      </Collapse>
    </Card>
  );
}

/** Questions about the whole picture. */
function PictureQuestions({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const { labels, schema } = form.values;
  const attributes = schema.attributes ?? [];
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {t('labeling.ontology.ofPicture')}
      </Text>
      <AttributesEditor
        owner={t('labeling.ontology.picture')}
        attributes={attributes}
        errors={errorsBelow(form, 'schema.attributes.')}
        onAdd={() =>
          form.setFieldValue('schema', { ...schema, attributes: [...attributes, newAttribute(labels, attributes)] })
        }
        onChange={(next) => form.setFieldValue('schema', { ...schema, attributes: next })}
      />
    </div>
  );
}
