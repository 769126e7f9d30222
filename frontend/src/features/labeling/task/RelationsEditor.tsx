import { ActionIcon, Button, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { RelationKind } from '../canvas/model';
import { newRelation } from './ontologyDraft';
import type { TaskForm } from './taskForm';

/** The kinds of relations that join two objects of a picture. */
export function RelationsEditor({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const { labels, schema } = form.values;
  const relations = schema.relations ?? [];
  const setAll = (next: RelationKind[]) => form.setFieldValue('schema', { ...schema, relations: next });
  const put = (index: number, next: Partial<RelationKind>) => {
    form.clearFieldError(`schema.relations.${index}.name`);
    setAll(relations.map((one, at) => (at === index ? { ...one, ...next } : one)));
  };
  const data = labels.filter(({ name }) => name.trim()).map(({ id, name }) => ({ value: String(id), label: name }));
  return (
    <Stack gap={6} role="group" aria-label={t('labeling.ontology.relations')}>
      <div>
        <Text size="sm" fw={500}>
          {t('labeling.ontology.relations')}
        </Text>
        <Text size="xs" c="dimmed">
          {t('labeling.ontology.relationsHint')}
        </Text>
      </div>
      {relations.map((relation, index) => {
        const name = relation.name || t('labeling.ontology.unnamedRelation');
        return (
          <Stack key={relation.id} gap={4} role="group" aria-label={name}>
            <Group gap="xs" wrap="nowrap" align="flex-start">
              <TextInput
                flex={1}
                size="xs"
                aria-label={t('labeling.ontology.relationName')}
                placeholder={t('labeling.ontology.relationName')}
                value={relation.name}
                error={form.errors[`schema.relations.${index}.name`] ?? form.errors[`schema.relations.${index}`]}
                onChange={(event) => put(index, { name: event.currentTarget.value })}
              />
              <ActionIcon
                color="gray"
                size={30}
                aria-label={t('labeling.create.removeLabel', { name })}
                onClick={() => setAll(relations.filter((one) => one !== relation))}
              >
                <IconTrash size={14} />
              </ActionIcon>
            </Group>
            <Group gap="xs" grow align="flex-start">
              {(['from', 'to'] as const).map((end) => (
                <MultiSelect
                  key={end}
                  size="xs"
                  label={t(`labeling.ontology.${end}`)}
                  placeholder={relation[end]?.length ? undefined : t('labeling.ontology.anyLabel')}
                  data={data}
                  value={(relation[end] ?? []).map(String)}
                  onChange={(ids) => put(index, { [end]: ids.length > 0 ? ids.map(Number) : null })}
                />
              ))}
            </Group>
          </Stack>
        );
      })}
      <div>
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconPlus size={12} />}
          onClick={() => setAll([...relations, newRelation(relations)])}
        >
          {t('labeling.ontology.addRelation')}
        </Button>
      </div>
    </Stack>
  );
}
