import { ActionIcon, Button, Checkbox, Group, NumberInput, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ATTRIBUTE_KINDS, type Attribute } from '../objects/types';
import { withChoices } from './ontologyDraft';

interface AttributesEditorProps {
  /** The name of what has the attributes, for screen readers. */
  owner: string;
  attributes: readonly Attribute[];
  /** Errors by `0.name`, as the server names them. */
  errors: Readonly<Record<string, string>>;
  onAdd: () => void;
  onChange: (attributes: Attribute[]) => void;
}

/** The questions about an object or a picture. */
export function AttributesEditor({ owner, attributes, errors, onAdd, onChange }: AttributesEditorProps) {
  const { t } = useTranslation();
  const put = (index: number, next: Attribute) => onChange(attributes.map((one, at) => (at === index ? next : one)));
  return (
    <Stack gap={8} role="group" aria-label={t('labeling.ontology.attributesOf', { name: owner })}>
      {attributes.map((attribute, index) => (
        <AttributeRow
          key={attribute.id}
          attribute={attribute}
          others={attributes.slice(0, index)}
          error={errors[`${index}.name`] ?? errors[String(index)]}
          onChange={(next) => put(index, next)}
          onRemove={() => onChange(attributes.filter(({ id }) => id !== attribute.id))}
        />
      ))}
      <div>
        <Button size="compact-xs" variant="default" leftSection={<IconPlus size={12} />} onClick={onAdd}>
          {t('labeling.ontology.addAttribute')}
        </Button>
      </div>
    </Stack>
  );
}

interface AttributeRowProps {
  attribute: Attribute;
  /** Attributes above this one, on which it may hang. */
  others: readonly Attribute[];
  error: string | undefined;
  onChange: (attribute: Attribute) => void;
  onRemove: () => void;
}

function AttributeRow({ attribute, others, error, onChange, onRemove }: AttributeRowProps) {
  const { t } = useTranslation();
  const name = attribute.name || t('labeling.ontology.unnamedAttribute');
  return (
    <Stack gap={4} pl="sm" style={{ borderLeft: '2px solid var(--mantine-color-default-border)' }}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <TextInput
          flex={1}
          size="xs"
          aria-label={t('labeling.ontology.attributeName')}
          placeholder={t('labeling.ontology.attributeName')}
          value={attribute.name}
          error={error}
          onChange={(event) => onChange({ ...attribute, name: event.currentTarget.value })}
        />
        <Select
          w={110}
          size="xs"
          aria-label={t('labeling.ontology.kindOf', { name })}
          allowDeselect={false}
          data={ATTRIBUTE_KINDS.map((kind) => ({ value: kind, label: t(`labeling.ontology.kind.${kind}`) }))}
          value={attribute.kind}
          onChange={(kind) => onChange({ ...attribute, kind: (kind ?? 'choice') as Attribute['kind'] })}
        />
        <ActionIcon color="gray" size={30} aria-label={t('labeling.create.removeLabel', { name })} onClick={onRemove}>
          <IconTrash size={14} />
        </ActionIcon>
      </Group>
      <KindFields attribute={attribute} name={name} onChange={onChange} />
      <Group gap="sm">
        <Checkbox
          size="xs"
          label={t('labeling.ontology.required')}
          checked={attribute.required ?? false}
          onChange={(event) => onChange({ ...attribute, required: event.currentTarget.checked })}
        />
        <WhenField attribute={attribute} others={others} name={name} onChange={onChange} />
      </Group>
    </Stack>
  );
}

interface FieldsProps {
  attribute: Attribute;
  name: string;
  onChange: (attribute: Attribute) => void;
}

function KindFields({ attribute, name, onChange }: FieldsProps) {
  const { t } = useTranslation();
  const { kind } = attribute;
  if (kind === 'choice')
    return (
      <Group gap="xs" align="center">
        <TagsInput
          flex={1}
          miw={140}
          size="xs"
          aria-label={t('labeling.ontology.choicesOf', { name })}
          placeholder={t('labeling.ontology.choices')}
          splitChars={[',', '，', '、']}
          value={(attribute.choices ?? []).map((choice) => choice.name)}
          onChange={(names) => onChange(withChoices(attribute, names))}
        />
        <Checkbox
          size="xs"
          label={t('labeling.ontology.multiple')}
          checked={attribute.multiple ?? false}
          onChange={(event) => onChange({ ...attribute, multiple: event.currentTarget.checked })}
        />
      </Group>
    );
  if (kind === 'number')
    return (
      <Group gap="xs">
        {(['min', 'max'] as const).map((bound) => (
          <NumberInput
            key={bound}
            w={100}
            size="xs"
            aria-label={t(`labeling.ontology.${bound}Of`, { name })}
            placeholder={t(`labeling.ontology.${bound}`)}
            value={attribute[bound] ?? ''}
            onChange={(value) => onChange({ ...attribute, [bound]: typeof value === 'number' ? value : null })}
          />
        ))}
      </Group>
    );
  if (kind === 'text')
    return (
      <TextInput
        size="xs"
        aria-label={t('labeling.ontology.patternOf', { name })}
        placeholder={t('labeling.ontology.pattern')}
        value={attribute.pattern ?? ''}
        onChange={(event) => onChange({ ...attribute, pattern: event.currentTarget.value })}
      />
    );
  return null;
}

/** The answers of an attribute above on which this one hangs. */
function WhenField({ attribute, others, name, onChange }: FieldsProps & { others: readonly Attribute[] }) {
  const { t } = useTranslation();
  const options = others.flatMap((other) => {
    if (other.kind === 'flag')
      return [true, false].map((is) => ({
        value: `${other.id}/${is}`,
        label: t(is ? 'labeling.ontology.whenOn' : 'labeling.ontology.whenOff', { name: other.name }),
      }));
    return (other.choices ?? []).map((choice) => ({
      value: `${other.id}/${choice.id}`,
      label: t('labeling.ontology.whenIs', { name: other.name, choice: choice.name }),
    }));
  });
  if (options.length === 0) return null;
  const { when } = attribute;
  const choose = (value: string | null) => {
    const [id = '', is = ''] = (value ?? '').split('/');
    const answer = is === 'true' || is === 'false' ? is === 'true' : Number(is);
    onChange({ ...attribute, when: value === null ? null : { attribute: Number(id), is: [answer] } });
  };
  return (
    <Select
      flex={1}
      size="xs"
      clearable
      aria-label={t('labeling.ontology.whenOf', { name })}
      placeholder={t('labeling.ontology.always')}
      data={options}
      value={when ? `${when.attribute}/${when.is[0]}` : null}
      onChange={choose}
    />
  );
}
