package main

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
)

type company struct {
	ID        uint
	Name      string `gorm:"size:40;uniqueIndex;not null"`
	Employees []person
}

type person struct {
	gorm.Model
	Name      string  `gorm:"index:by_name,priority:1;comment:who"`
	Age       int     `gorm:"check:age_ok,age >= 0;default:18"`
	Pay       float64 `gorm:"type:numeric(10,2)"`
	Born      *time.Time
	CompanyID uint
	Company   company `gorm:"constraint:OnDelete:CASCADE"`
	Skills    []skill `gorm:"many2many:person_skills"`
	Data      []byte  `gorm:"type:jsonb;default:'{}'"`
}

type skill struct {
	ID   uint
	Word string `gorm:"type:varchar(20)"`
}

// gormClient: AutoMigrate twice, associations, upserts, scopes, transactions, the migrator's introspection.
func gormClient(url string) error {
	db, err := gorm.Open(postgres.Open(url), &gorm.Config{Logger: logger.Discard, TranslateError: true})
	if err != nil {
		return err
	}
	for range 2 {
		if err := db.AutoMigrate(&company{}, &person{}, &skill{}); err != nil {
			return err
		}
	}
	c := company{Name: "Acme", Employees: []person{{Name: "Ann", Age: 30, Pay: 12.5, Skills: []skill{{Word: "go"}, {Word: "sql"}}}, {Name: "Bob", Pay: 7}}}
	fmt.Println(db.Create(&c).Error, c.ID, c.Employees[0].ID, c.Employees[1].Age)
	fmt.Println(errors.Is(db.Create(&company{Name: "Acme"}).Error, gorm.ErrDuplicatedKey))
	fmt.Println(errors.Is(db.Create(&person{Name: "X", CompanyID: 99}).Error, gorm.ErrForeignKeyViolated), errors.Is(db.Create(&person{Name: "X", Age: -1, CompanyID: 1}).Error, gorm.ErrCheckConstraintViolated))
	upsert := db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoUpdates: clause.AssignmentColumns([]string{"name"})}, clause.Returning{}).Create(&company{Name: "Acme"})
	fmt.Println(upsert.Error, upsert.RowsAffected)
	var people []person
	fmt.Println(db.Preload("Skills").Joins("Company").Order("people.name").Find(&people).Error)
	for _, p := range people {
		fmt.Println(p.Name, p.Age, p.Pay, p.Company.Name, len(p.Skills), string(p.Data))
	}
	var out []struct {
		Name string
		N    int64
		Pay  float64
	}
	db.Model(&person{}).Select("companies.name, count(*) as n, sum(pay) as pay").Joins("join companies on companies.id = people.company_id").Group("companies.name").Having("count(*) > ?", 1).Scan(&out)
	fmt.Println(out)
	fmt.Println(db.Model(&person{}).Where("name = ?", "Ann").Updates(map[string]any{"age": gorm.Expr("age + ?", 5)}).RowsAffected, db.Where("name = ?", "Bob").Delete(&person{}).RowsAffected)
	var n int64
	db.Unscoped().Model(&person{}).Count(&n)
	var live int64
	db.Model(&person{}).Count(&live)
	fmt.Println(n, live)
	err = db.Transaction(func(tx *gorm.DB) error {
		tx.Create(&skill{Word: "outer"})
		inner := tx.Transaction(func(tx *gorm.DB) error {
			tx.Create(&skill{Word: "inner"})
			return errors.New("no")
		})
		fmt.Println(inner)
		var s skill
		return tx.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).First(&s, "word = ?", "go").Error
	})
	var words []string
	db.Model(&skill{}).Order("word").Pluck("word", &words)
	fmt.Println(err, words)
	many := make([]skill, 500)
	for i := range many {
		many[i].Word = fmt.Sprint("w", i)
	}
	fmt.Println(db.CreateInBatches(many, 100).RowsAffected)
	var found skill
	fmt.Println(db.FirstOrCreate(&found, skill{Word: "w7"}).RowsAffected, errors.Is(db.First(&skill{}, "word = ?", "none").Error, gorm.ErrRecordNotFound))
	m := db.Migrator()
	types, err := m.ColumnTypes(&person{}) // it asks for no order
	slices.SortFunc(types, func(a, b gorm.ColumnType) int { return strings.Compare(a.Name(), b.Name()) })
	for _, t := range types {
		length, _ := t.Length()
		precision, scale, _ := t.DecimalSize()
		nullable, _ := t.Nullable()
		value, _ := t.DefaultValue()
		comment, _ := t.Comment()
		key, _ := t.PrimaryKey()
		fmt.Println(t.Name(), t.DatabaseTypeName(), length, precision, scale, nullable, value, comment, key)
	}
	indexes, ierr := m.GetIndexes(&person{})
	var names []string
	for _, x := range indexes {
		unique, _ := x.Unique()
		names = append(names, fmt.Sprint(x.Name(), x.Columns(), unique))
	}
	sort.Strings(names)
	tables, terr := m.GetTables()
	sort.Strings(tables)
	fmt.Println(err, ierr, names, terr, tables, m.HasConstraint(&person{}, "age_ok"), m.HasIndex(&person{}, "by_name"), m.HasColumn(&person{}, "nope"), m.CurrentDatabase() != "")
	fmt.Println(m.RenameColumn(&skill{}, "word", "term"), m.AlterColumn(&person{}, "Name"), m.DropColumn(&person{}, "age"), m.DropTable("person_skills", &person{}, &skill{}, &company{}))
	return nil
}
