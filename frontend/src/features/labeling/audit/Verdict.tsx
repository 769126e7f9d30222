import { ActionIcon, Button, Divider, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { objectsOf } from '../canvas/model';
import type { Editing } from '../objects/editing';
import type { Ontology } from '../objects/types';
import { ERROR_CODES, type ErrorCode } from './audit';
import type { Opinion } from './opinion';

interface VerdictProps {
  opinion: Opinion;
  editing: Editing;
  ontology: Ontology;
  onChange: (part: Partial<Opinion>) => void;
}

/** The reason for which a picture goes back, and remarks about its objects. */
export function Verdict({ opinion, editing, ontology, onChange }: VerdictProps) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const nameOf = (id: string | null) => {
    const objects = objectsOf(editing.document);
    const index = objects.findIndex((object) => object.id === id);
    const label = ontology.labels.find((one) => one.id === objects[index]?.label);
    if (index < 0) return t('labeling.objects.audit.onPicture');
    const name = t('labeling.objects.name', { label: label?.name ?? '', number: index + 1 });
    return t('labeling.objects.audit.onObject', { name });
  };
  const chosen = editing.selected[0] ?? null;
  const add = () => {
    if (text.trim() === '') return;
    onChange({ issues: [...opinion.issues, { object: chosen, text: text.trim() }] });
    setText('');
  };
  return (
    <section aria-label={t('labeling.audit.reason')}>
      <Stack gap="xs">
        <Select
          size="xs"
          label={t('labeling.audit.reason')}
          allowDeselect={false}
          data={ERROR_CODES.map((code) => ({ value: code, label: t(`labeling.audit.code.${code}`) }))}
          value={opinion.code}
          onChange={(code) => onChange({ code: (code ?? 'wrong_label') as ErrorCode })}
        />
        <TextInput
          size="xs"
          label={t('labeling.audit.comment')}
          value={opinion.comment}
          onChange={(event) => onChange({ comment: event.currentTarget.value })}
        />
        <Group gap={4} align="flex-end" wrap="nowrap">
          <TextInput
            flex={1}
            size="xs"
            label={t('labeling.objects.audit.pin')}
            description={chosen === null ? t('labeling.objects.audit.pinHint') : nameOf(chosen)}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && add()}
          />
          <Button size="xs" variant="default" disabled={text.trim() === ''} onClick={add}>
            {t('labeling.objects.audit.add')}
          </Button>
        </Group>
        {opinion.issues.map((issue, index) => (
          <Group key={`${issue.object}/${issue.text}`} gap={4} wrap="nowrap" align="flex-start">
            <Text size="xs" flex={1} style={{ overflowWrap: 'anywhere' }}>
              {`${nameOf(issue.object)}: ${issue.text}`}
            </Text>
            <ActionIcon
              size="sm"
              color="gray"
              aria-label={t('labeling.objects.audit.remove', { number: index + 1 })}
              onClick={() => onChange({ issues: opinion.issues.filter((_, at) => at !== index) })}
            >
              <IconTrash size={14} />
            </ActionIcon>
          </Group>
        ))}
      </Stack>
      <Divider my="sm" />
    </section>
  );
}
