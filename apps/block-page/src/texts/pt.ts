import type { Texts } from './texts.js';

export const pt: Texts = {
  direction: 'ltr',
  blocked: {
    title: 'Este site está bloqueado',
    text:
      'As suas próprias configurações de filtro para esta conexão à internet bloqueiam ' +
      'este site.',
  },
  blockedByLaw: {
    title: 'Este site está bloqueado por lei',
    text:
      'O seu fornecedor de internet é obrigado a bloquear este site para todos os ' +
      'clientes. As suas configurações de filtro não alteram isso.',
  },
  blockedForEverybody: {
    title: 'Este site está bloqueado para todos',
    text:
      'O seu fornecedor de internet bloqueia este site para todos os clientes. As suas ' +
      'configurações de filtro não alteram isso.',
  },
  notBlocked: {
    title: 'Este site não está bloqueado',
    text:
      'As suas configurações de filtro não bloqueiam este site neste momento. Se acabou de ' +
      'ser permitido, o seu dispositivo pode ainda lembrar-se da resposta antiga. Espere ' +
      'um minuto e tente de novo.',
  },
  noName: {
    title: 'Esta é a página dos sites bloqueados',
    text: 'Esta página aparece no lugar de um site que as suas configurações de filtro bloqueiam.',
  },
  notReady: {
    title: 'Este serviço ainda não está pronto',
    text: 'Ainda não conhece as suas configurações. Tente de novo dentro de um minuto.',
  },
  reasonLabel: 'Motivo',
  reason: {
    category: 'Categoria bloqueada',
    application: 'Aplicação bloqueada',
    list: 'A sua lista de sites bloqueados',
    grant: 'Bloqueio temporário',
    allowListOnly: 'Só podem ser abertos os sites que permitiu',
  },
  authorityLabel: 'Ordenado por',
  referenceLabel: 'Referência',
  leadsToLabel: 'Aponta para',
  scheduleLabel: 'Horário',
  scheduleUntil: 'Estas configurações valem até',
  scheduleFrom: 'Próxima mudança de configurações',
  incidentLabel: 'Número do incidente',
  incidentHint:
    'Copie o número do incidente se pedir ajuda. Só o seu provedor pode lê-lo, durante um dia.',
  advice: 'A pessoa que administra as configurações de filtro pode permitir este site.',
  tryAgain: 'Tentar de novo',
  helpLabel: 'Ajuda',
  privacy: 'Esta página não usa cookies nem carrega nada de outros servidores.',
};
