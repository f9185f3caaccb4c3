# Countries by ISO 3166-1, named as in the CLDR of Unicode (cldr-localenames).

country = { $code ->
    [AD] Andorra
    [AE] Emirados Árabes Unidos
    [AF] Afeganistão
    [AG] Antígua e Barbuda
    [AI] Anguila
    [AL] Albânia
    [AM] Armênia
    [AO] Angola
    [AQ] Antártida
    [AR] Argentina
    [AS] Samoa Americana
    [AT] Áustria
    [AU] Austrália
    [AW] Aruba
    [AX] Ilhas Aland
    [AZ] Azerbaijão
    [BA] Bósnia e Herzegovina
    [BB] Barbados
    [BD] Bangladesh
    [BE] Bélgica
    [BF] Burquina Faso
    [BG] Bulgária
    [BH] Barein
    [BI] Burundi
    [BJ] Benin
    [BL] São Bartolomeu
    [BM] Bermudas
    [BN] Brunei
    [BO] Bolívia
    [BQ] Países Baixos Caribenhos
    [BR] Brasil
    [BS] Bahamas
    [BT] Butão
    [BV] Ilha Bouvet
    [BW] Botsuana
    [BY] Bielorrússia
    [BZ] Belize
    [CA] Canadá
    [CC] Ilhas Cocos (Keeling)
    [CD] República Democrática do Congo
    [CF] República Centro-Africana
    [CG] República do Congo
    [CH] Suíça
    [CI] Costa do Marfim
    [CK] Ilhas Cook
    [CL] Chile
    [CM] Camarões
    [CN] China
    [CO] Colômbia
    [CR] Costa Rica
    [CU] Cuba
    [CV] Cabo Verde
    [CW] Curaçao
    [CX] Ilha Christmas
    [CY] Chipre
    [CZ] Tchéquia
    [DE] Alemanha
    [DJ] Djibuti
    [DK] Dinamarca
    [DM] Dominica
    [DO] República Dominicana
    [DZ] Argélia
    [EC] Equador
    [EE] Estônia
    [EG] Egito
    [EH] Saara Ocidental
    [ER] Eritreia
    [ES] Espanha
    [ET] Etiópia
    [FI] Finlândia
    [FJ] Fiji
    [FK] Ilhas Malvinas
    [FM] Micronésia
    [FO] Ilhas Faroé
    [FR] França
    [GA] Gabão
    [GB] Reino Unido
    [GD] Granada
    [GE] Geórgia
    [GF] Guiana Francesa
    [GG] Guernsey
    [GH] Gana
    [GI] Gibraltar
    [GL] Groenlândia
    [GM] Gâmbia
    [GN] Guiné
    [GP] Guadalupe
    [GQ] Guiné Equatorial
    [GR] Grécia
    [GS] Ilhas Geórgia do Sul e Sandwich do Sul
    [GT] Guatemala
    [GU] Guam
    [GW] Guiné-Bissau
    [GY] Guiana
    [HK] Hong Kong
    [HM] Ilhas Heard e McDonald
    [HN] Honduras
    [HR] Croácia
    [HT] Haiti
    [HU] Hungria
    [ID] Indonésia
    [IE] Irlanda
    [IL] Israel
    [IM] Ilha de Man
    [IN] Índia
    [IO] Território Britânico do Oceano Índico
    [IQ] Iraque
    [IR] Irã
    [IS] Islândia
    [IT] Itália
    [JE] Jersey
    [JM] Jamaica
    [JO] Jordânia
    [JP] Japão
    [KE] Quênia
    [KG] Quirguistão
    [KH] Camboja
    [KI] Quiribati
    [KM] Comores
    [KN] São Cristóvão e Névis
    [KP] Coreia do Norte
    [KR] Coreia do Sul
    [KW] Kuwait
    [KY] Ilhas Cayman
    [KZ] Cazaquistão
    [LA] Laos
    [LB] Líbano
    [LC] Santa Lúcia
    [LI] Liechtenstein
    [LK] Sri Lanka
    [LR] Libéria
    [LS] Lesoto
    [LT] Lituânia
    [LU] Luxemburgo
    [LV] Letônia
    [LY] Líbia
    [MA] Marrocos
    [MC] Mônaco
    [MD] Moldávia
    [ME] Montenegro
    [MF] São Martinho
    [MG] Madagascar
    [MH] Ilhas Marshall
    [MK] Macedônia do Norte
    [ML] Mali
    [MM] Mianmar
    [MN] Mongólia
    [MO] Macau
    [MP] Ilhas Marianas do Norte
    [MQ] Martinica
    [MR] Mauritânia
    [MS] Montserrat
    [MT] Malta
    [MU] Maurício
    [MV] Maldivas
    [MW] Malaui
    [MX] México
    [MY] Malásia
    [MZ] Moçambique
    [NA] Namíbia
    [NC] Nova Caledônia
    [NE] Níger
    [NF] Ilha Norfolk
    [NG] Nigéria
    [NI] Nicarágua
    [NL] Países Baixos
    [NO] Noruega
    [NP] Nepal
    [NR] Nauru
    [NU] Niue
    [NZ] Nova Zelândia
    [OM] Omã
    [PA] Panamá
    [PE] Peru
    [PF] Polinésia Francesa
    [PG] Papua-Nova Guiné
    [PH] Filipinas
    [PK] Paquistão
    [PL] Polônia
    [PM] São Pedro e Miquelão
    [PN] Ilhas Pitcairn
    [PR] Porto Rico
    [PS] Palestina
    [PT] Portugal
    [PW] Palau
    [PY] Paraguai
    [QA] Catar
    [RE] Reunião
    [RO] Romênia
    [RS] Sérvia
    [RU] Rússia
    [RW] Ruanda
    [SA] Arábia Saudita
    [SB] Ilhas Salomão
    [SC] Seicheles
    [SD] Sudão
    [SE] Suécia
    [SG] Singapura
    [SH] Santa Helena
    [SI] Eslovênia
    [SJ] Svalbard e Jan Mayen
    [SK] Eslováquia
    [SL] Serra Leoa
    [SM] San Marino
    [SN] Senegal
    [SO] Somália
    [SR] Suriname
    [SS] Sudão do Sul
    [ST] São Tomé e Príncipe
    [SV] El Salvador
    [SX] Sint Maarten
    [SY] Síria
    [SZ] Essuatíni
    [TC] Ilhas Turcas e Caicos
    [TD] Chade
    [TF] Territórios Franceses do Sul
    [TG] Togo
    [TH] Tailândia
    [TJ] Tadjiquistão
    [TK] Tokelau
    [TL] Timor-Leste
    [TM] Turcomenistão
    [TN] Tunísia
    [TO] Tonga
    [TR] Turquia
    [TT] Trinidad e Tobago
    [TV] Tuvalu
    [TW] Taiwan
    [TZ] Tanzânia
    [UA] Ucrânia
    [UG] Uganda
    [UM] Ilhas Menores Distantes dos EUA
    [US] Estados Unidos
    [UY] Uruguai
    [UZ] Uzbequistão
    [VA] Cidade do Vaticano
    [VC] São Vicente e Granadinas
    [VE] Venezuela
    [VG] Ilhas Virgens Britânicas
    [VI] Ilhas Virgens Americanas
    [VN] Vietnã
    [VU] Vanuatu
    [WF] Wallis e Futuna
    [WS] Samoa
    [XK] Kosovo
    [YE] Iêmen
    [YT] Mayotte
    [ZA] África do Sul
    [ZM] Zâmbia
    [ZW] Zimbábue
   *[other] { $code }
}
country-article = { $code ->
    [AE] os
    [AF] o
    [AL] a
    [AM] a
    [AQ] a
    [AR] a
    [AT] a
    [AU] a
    [AX] as
    [AZ] o
    [BA] a
    [BD] o
    [BE] a
    [BF] o
    [BG] a
    [BH] o
    [BI] o
    [BJ] o
    [BN] o
    [BO] a
    [BR] o
    [BS] as
    [BT] o
    [BV] a
    [BW] o
    [BY] a
    [BZ] o
    [CA] o
    [CC] as
    [CD] a
    [CF] a
    [CG] a
    [CH] a
    [CI] a
    [CK] as
    [CL] o
    [CM] os
    [CN] a
    [CO] a
    [CX] a
    [CZ] a
    [DE] a
    [DK] a
    [DO] a
    [DZ] a
    [EC] o
    [EE] a
    [EG] o
    [EH] o
    [ER] a
    [ES] a
    [ET] a
    [FI] a
    [FK] as
    [FM] a
    [FO] as
    [FR] a
    [GA] o
    [GB] o
    [GE] a
    [GF] a
    [GL] a
    [GM] a
    [GN] a
    [GR] a
    [GS] as
    [GT] a
    [GW] a
    [HM] as
    [HR] a
    [HT] o
    [HU] a
    [ID] a
    [IE] a
    [IM] a
    [IN] a
    [IO] o
    [IQ] o
    [IR] o
    [IS] a
    [IT] a
    [JM] a
    [JO] a
    [JP] o
    [KE] o
    [KG] o
    [KH] o
    [KP] a
    [KR] a
    [KW] o
    [KY] as
    [KZ] o
    [LA] o
    [LB] o
    [LK] o
    [LR] a
    [LS] o
    [LT] a
    [LV] a
    [LY] a
    [MA] o
    [MD] a
    [ME] o
    [MH] as
    [MK] a
    [ML] o
    [MM] o
    [MN] a
    [MP] as
    [MQ] a
    [MR] a
    [MV] as
    [MW] o
    [MX] o
    [MY] a
    [NA] a
    [NC] a
    [NE] o
    [NF] a
    [NG] a
    [NI] a
    [NL] os
    [NO] a
    [NP] o
    [NZ] a
    [OM] o
    [PA] o
    [PE] o
    [PF] a
    [PG] a
    [PH] as
    [PK] o
    [PL] a
    [PN] as
    [PS] a
    [PY] o
    [QA] o
    [RO] a
    [RS] a
    [RU] a
    [RW] o
    [SA] a
    [SB] as
    [SC] as
    [SD] o
    [SE] a
    [SI] a
    [SK] a
    [SL] a
    [SN] o
    [SO] a
    [SR] o
    [SS] o
    [SY] a
    [SZ] o
    [TC] as
    [TD] o
    [TF] os
    [TG] o
    [TH] a
    [TJ] o
    [TM] o
    [TN] a
    [TR] a
    [TZ] a
    [UA] a
    [UG] a
    [UM] as
    [US] os
    [UY] o
    [UZ] o
    [VA] a
    [VE] a
    [VG] as
    [VI] as
    [VN] o
    [XK] o
    [YE] o
    [ZA] a
    [ZM] a
    [ZW] o
   *[other] none
}
in-country = { $article ->
    [o] no { $name }
    [a] na { $name }
    [os] nos { $name }
    [as] nas { $name }
   *[none] em { $name }
}
from-country = { $article ->
    [o] do { $name }
    [a] da { $name }
    [os] dos { $name }
    [as] das { $name }
   *[none] de { $name }
}
