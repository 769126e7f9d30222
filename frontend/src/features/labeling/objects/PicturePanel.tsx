import { Divider, MultiSelect, Select, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { AttributeFields } from './AttributeFields';
import type { Editing } from './editing';
import { isPictureClass } from './ontology';
import type { Attributes, Ontology } from './types';

interface PicturePanelProps {
  editing: Editing;
  ontology: Ontology;
  showMissing: boolean;
}

const NO_VALUES: Attributes = {};

/** The classes and the attributes of the whole picture. */
export function PicturePanel({ editing, ontology, showMissing }: PicturePanelProps) {
  const { t } = useTranslation();
  const { document, readOnly } = editing;
  const { schema } = ontology;
  const attributes = schema?.attributes ?? [];
  const data = ontology.labels.filter(isPictureClass).map(({ id, name }) => ({ value: String(id), label: name }));
  if (data.length + attributes.length === 0) return null;
  const chosen = (document.labels ?? []).map(String);
  return (
    <section aria-label={t('labeling.objects.picture')}>
      <Divider my="sm" />
      <Text size="xs" c="dimmed" fw={600} mb={4}>
        {t('labeling.objects.picture')}
      </Text>
      <Stack gap={6}>
        {data.length > 0 && schema?.multiple && (
          <MultiSelect
            size="xs"
            label={t('labeling.objects.pictureClasses')}
            data={data}
            disabled={readOnly}
            value={chosen}
            onChange={(labels) => editing.do({ type: 'setPictureLabels', labels: labels.map(Number) })}
          />
        )}
        {data.length > 0 && !schema?.multiple && (
          <Select
            size="xs"
            label={t('labeling.objects.pictureClass')}
            clearable
            data={data}
            disabled={readOnly}
            value={chosen[0] ?? null}
            onChange={(label) =>
              editing.do({ type: 'setPictureLabels', labels: label === null ? [] : [Number(label)] })
            }
          />
        )}
        <AttributeFields
          attributes={attributes}
          values={document.attributes ?? NO_VALUES}
          showMissing={showMissing}
          disabled={readOnly}
          onChange={(attribute, value) => editing.do({ type: 'setPictureAttribute', attribute, value: value ?? null })}
        />
      </Stack>
    </section>
  );
}
