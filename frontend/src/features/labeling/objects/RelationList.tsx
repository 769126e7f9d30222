import { ActionIcon, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { objectsOf, relationsOf } from '../canvas/model';
import type { Editing } from './editing';
import type { Ontology } from './types';

interface RelationListProps {
  /** Id of the object whose relations are listed. */
  object: string;
  editing: Editing;
  ontology: Ontology;
}

/** The relations of one object, each with its kind and its other end; a press selects that end. */
export function RelationList({ object, editing, ontology }: RelationListProps) {
  const { t } = useTranslation();
  const relations = relationsOf(editing.document).filter(({ from, to }) => from === object || to === object);
  if (relations.length === 0) return null;
  const objects = objectsOf(editing.document);
  const nameOf = (id: string) => {
    const at = objects.findIndex((one) => one.id === id);
    const label = ontology.labels.find((one) => one.id === objects[at]?.label);
    return t('labeling.objects.name', { label: label?.name ?? '', number: at + 1 });
  };
  const kinds = new Map((ontology.schema?.relations ?? []).map(({ id, name }) => [id, name]));
  return (
    <Stack gap={2} role="group" aria-label={t('labeling.objects.relations')}>
      <Text size="xs" fw={500}>
        {t('labeling.objects.relations')}
      </Text>
      {relations.map(({ id, relation, from, to }) => {
        const other = from === object ? to : from;
        const kind = kinds.get(relation) ?? relation;
        const words = t('labeling.objects.relationOf', { from: nameOf(from), kind, to: nameOf(to) });
        return (
          <Group key={id} gap={4} wrap="nowrap" justify="space-between">
            <UnstyledButton fz="xs" onClick={() => editing.do({ type: 'select', ids: [other] })}>
              {words}
            </UnstyledButton>
            {!editing.readOnly && (
              <ActionIcon
                size="sm"
                aria-label={t('labeling.objects.deleteRelation', { name: words })}
                onClick={() => editing.do({ type: 'unrelate', ids: [id] })}
              >
                <IconTrash size={14} />
              </ActionIcon>
            )}
          </Group>
        );
      })}
    </Stack>
  );
}
