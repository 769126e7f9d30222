import { ActionIcon, Button, Divider, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconMapPin, IconMapPinOff, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { objectsOf } from '../canvas/model';
import type { Editing } from '../objects/editing';
import type { Ontology } from '../objects/types';
import { ERROR_CODES, type ErrorCode } from './audit';
import { type NewRemark, type Opinion, remarksOf } from './opinion';

interface VerdictProps {
  opinion: Opinion;
  editing: Editing;
  ontology: Ontology;
  /** The number of the first remark: those of earlier audits come before. */
  first: number;
  /** Whether the next press on the picture says where the remark belongs. */
  isPlacing: boolean;
  onPlacing: (isPlacing: boolean) => void;
  onChange: (part: Partial<Opinion>) => void;
}

/** The reason for which a picture goes back, and remarks about its objects. */
export function Verdict(props: VerdictProps) {
  const { opinion, editing, ontology, first, isPlacing, onPlacing, onChange } = props;
  const { t } = useTranslation();
  const { text, at } = opinion;
  const nameOf = (id: string | null) => {
    const objects = objectsOf(editing.document);
    const index = objects.findIndex((object) => object.id === id);
    const label = ontology.labels.find((one) => one.id === objects[index]?.label);
    if (index < 0) return t('labeling.objects.audit.onPicture');
    const name = t('labeling.objects.name', { label: label?.name ?? '', number: index + 1 });
    return t('labeling.objects.audit.onObject', { name });
  };
  const placeOf = ({ object, at: pin }: Pick<NewRemark, 'object' | 'at'>) =>
    pin ? t('labeling.objects.audit.onPlace', { x: Math.round(pin[0]), y: Math.round(pin[1]) }) : nameOf(object);
  const chosen = editing.selected[0] ?? null;
  const add = () => {
    onChange({ issues: remarksOf(opinion, chosen), text: '', at: null });
  };
  return (
    <section aria-label={t('labeling.audit.reason')}>
      <Stack gap="xs">
        <Select
          size="xs"
          label={t('labeling.audit.reason')}
          clearable
          placeholder={t('labeling.audit.noReason')}
          data={ERROR_CODES.map((code) => ({ value: code, label: t(`labeling.audit.code.${code}`) }))}
          value={opinion.code}
          onChange={(code) => onChange({ code: code as ErrorCode | null })}
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
            data-remark
            description={chosen === null && !at ? t('labeling.objects.audit.pinHint') : placeOf({ object: chosen, at })}
            value={text}
            onChange={(event) => onChange({ text: event.currentTarget.value })}
            onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && add()}
          />
          <ActionIcon
            size={30}
            variant={isPlacing || at ? 'filled' : 'default'}
            aria-pressed={isPlacing}
            aria-keyshortcuts="P"
            aria-label={t(at ? 'labeling.objects.audit.unpin' : 'labeling.objects.audit.place')}
            onClick={() => (at ? onChange({ at: null }) : onPlacing(!isPlacing))}
          >
            {at ? <IconMapPinOff size={16} /> : <IconMapPin size={16} />}
          </ActionIcon>
          <Button size="xs" variant="default" disabled={text.trim() === ''} onClick={add}>
            {t('labeling.objects.audit.add')}
          </Button>
        </Group>
        {isPlacing && (
          <Text size="xs" c="dimmed" role="status">
            {t('labeling.objects.audit.placeHint')}
          </Text>
        )}
        {opinion.issues.map((issue, index) => (
          <Group key={`${issue.object}/${issue.at}/${issue.text}`} gap={4} wrap="nowrap" align="flex-start">
            <Text size="xs" flex={1} style={{ overflowWrap: 'anywhere' }}>
              {`${first + index}. ${placeOf(issue)}: ${issue.text}`}
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
